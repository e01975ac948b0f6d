from __future__ import annotations

from tests.diagnose.sample_rules import sample_rules as sample_rules

from stepscope.diagnose.comments import read_comments

SOURCE = '''\
"""Text that says # stepscope: ignore is no comment."""
# stepscope: ignore-file[repro]
a = f(x)  # stepscope: ignore[opt.no-zero-grad, loss.nan]
b = f(x)  # stepscope: ignore
c = f(
    x,  # stepscope: ignore[opt]
    y,
)
# stepscope: ignore[loss.nan]

d = f(x)
for x in y:  # stepscope: ignore[opt]
    e = f(x)
s = "# stepscope: ignore"
@g(
    1,  # stepscope: ignore[opt]
)
def h(
    x,
):
    return x
'''


def silenced_lines(rule: str) -> list[int]:
    found = read_comments(SOURCE.splitlines(keepends=True))
    return [line for line in range(1, len(SOURCE.splitlines()) + 1) if found.covers(rule, line)]


def test_a_comment_speaks_of_its_whole_statement_but_not_of_its_body() -> None:
    assert silenced_lines("opt.no-zero-grad") == [3, 4, 5, 6, 7, 8, 12, 15, 16, 17, 18, 19, 20]


def test_alone_on_its_line_it_speaks_of_the_statement_below() -> None:
    assert silenced_lines("loss.nan") == [3, 4, 11]


def test_a_whole_file_can_be_silenced_for_a_group() -> None:
    assert len(silenced_lines("repro.no-seed")) == len(SOURCE.splitlines())
    assert read_comments(["# stepscope: ignore-file"]).covers("opt.no-zero-grad", None)


def test_a_file_that_does_not_parse_is_read_line_by_line() -> None:
    found = read_comments(["x = 1  # stepscope: ignore\n", "def (\n"])
    assert found.covers("opt.no-zero-grad", 1)
    assert not found.covers("opt.no-zero-grad", 2)


def test_an_empty_list_silences_nothing() -> None:
    assert not read_comments(["x = 1  # stepscope: ignore[]"]).covers("opt.no-zero-grad", 1)


def test_a_comment_that_names_no_rule_is_told(sample_rules: object) -> None:
    found = read_comments(["x = 1  # stepscope: ignore[opt.no-zero-gard]"])
    assert list(found.mistakes()) == [
        (1, "the comment names no rule: there is no 'opt.no-zero-gard'; did you mean 'opt.no-zero-grad'?")
    ]
