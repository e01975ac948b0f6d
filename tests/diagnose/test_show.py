"""Messages are compared with `golden/*.txt`; `pytest tests/diagnose/test_show.py --renew` writes them anew."""

from __future__ import annotations

import io
import unicodedata
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from msgspec.structs import replace

from stepscope.diagnose.show import place_of, render, terminal_width, wants_color
from stepscope.diagnose.text_cells import width_of
from stepscope.records import Finding, Related

GOLDEN = Path(__file__).parent / "golden"

BACKWARD = Finding(
    rule="opt.no-zero-grad",
    severity="error",
    message="gradients of earlier steps are still there when backward runs",
    file="train.py",
    line=88,
    column=8,
    end_column=23,
    label="grad norm 1.9 -> 3.8 -> 5.8 while each step's own gradient stays near 1.9",
    fix="call optimizer.zero_grad() before line 88",
    source=[(87, "        loss = criterion(model(x), y)"), (88, "        loss.backward()"), (89, "        opt.step()")],
)
LONG = f"        out = model({', '.join(f'first_argument_{n}' for n in range(20))}, target=wanted)"


@dataclass
class Case:
    finding: Finding
    width: int = 120
    color: bool = False


CASES = {
    "usual": Case(BACKWARD),
    "colour": Case(BACKWARD, color=True),
    "narrow": Case(BACKWARD, width=60),
    "very_narrow": Case(BACKWARD, width=30),
    "warning": Case(replace(BACKWARD, severity="warning"), color=True),
    "info": Case(replace(BACKWARD, severity="info"), color=True),
    "column_unknown": Case(
        replace(BACKWARD, column=None, end_column=None, source=[(88, "    loss.backward()  # sum of '#' all")])
    ),
    "first_line": Case(replace(BACKWARD, line=1, source=[(1, "loss.backward()")], column=0, end_column=15)),
    "no_file": Case(replace(BACKWARD, file=None, line=None, source=[])),
    "missing_file": Case(replace(BACKWARD, file="gone/train.py", source=[], fix="")),
    "evidence": Case(replace(BACKWARD, label="", evidence={"grad_norm": [1.91, 3.8, 5.8], "weight_shape": [64, 10]})),
    "related": Case(
        replace(
            BACKWARD,
            related=[
                Related(file="model.py", line=7, label="the optimizer was made here", source=[(7, "opt = SGD(p)")]),
                Related(file="gone.py", line=1234),
            ],
        )
    ),
    "long_line": Case(
        replace(BACKWARD, source=[(88, LONG)], column=LONG.index("target"), end_column=len(LONG) - 1), 80
    ),
    "long_line_cut_behind": Case(replace(BACKWARD, source=[(88, LONG)], column=8, end_column=11), 80),
    "long_underline": Case(replace(BACKWARD, source=[(88, LONG)], column=8, end_column=len(LONG)), 80),
    "tabs": Case(replace(BACKWARD, source=[(87, "\tfor x in y:"), (88, "\t\tz =\tf(x)")], column=6, end_column=10)),
    "east_asian": Case(replace(BACKWARD, source=[(88, "    損失 = 誤差(モデル(x), y)")], column=9, end_column=15)),
    "hostile": Case(
        replace(
            BACKWARD,
            message="loss\x1b]52;c;ZXZpbA==\x07 is \x1b[31mred\nand goes on",
            label="a\x1b[2Jb",
            file="tr\x1b[2Jain.py",
            fix="one\ntwo\x07",
            source=[(88, "    x = '\x1b[2J\u202e'  \udcff")],
            column=None,
        )
    ),
    "long_message": Case(replace(BACKWARD, message="a long message of many words " * 6, fix="do this " * 30), 80),
    "lines_in_fix": Case(replace(BACKWARD, fix="write\n    optimizer.zero_grad()\n    loss.backward()")),
    "edited": Case(replace(BACKWARD, source_changed=True)),
    "column_past_the_line": Case(replace(BACKWARD, column=400, end_column=410)),
}


@pytest.mark.parametrize("name", CASES)
def test_reads_like_a_compilers_message(name: str, request: pytest.FixtureRequest) -> None:
    case = CASES[name]
    shown = render(case.finding, color=case.color, width=case.width, root=Path.cwd()) + "\n"
    golden = GOLDEN / f"{name}.txt"
    if request.config.getoption("--renew"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(shown, encoding="utf-8")
    assert shown == golden.read_text(encoding="utf-8")


def test_the_issues_example_is_shown_to_the_letter() -> None:
    shown = render(BACKWARD, color=False, width=120, root=Path.cwd())
    assert shown == (
        "error[opt.no-zero-grad]: gradients of earlier steps are still there when backward runs\n"
        "  --> train.py:88\n"
        "   |\n"
        "87 |         loss = criterion(model(x), y)\n"
        "88 |         loss.backward()\n"
        "   |         ^^^^^^^^^^^^^^^ grad norm 1.9 -> 3.8 -> 5.8 while each step's own gradient stays near 1.9\n"
        "   = fix: call optimizer.zero_grad() before line 88\n"
        "   = more: stepscope explain opt.no-zero-grad"
    )


def test_a_line_that_changed_since_is_shown_as_it_was_and_said_so(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text("loss.mean().backward()\n")
    kept = replace(BACKWARD, file=str(file), line=1, source=[(1, "loss.backward()")], column=None, end_column=None)
    shown = render(kept, color=False, width=120, root=tmp_path)
    assert "1 | loss.backward()\n" in shown
    assert "= note: the file has changed since; this is the line as it was" in shown
    file.write_text("loss.backward()\n")
    import linecache

    linecache.checkcache(str(file))
    assert "note" not in render(kept, color=False, width=120, root=tmp_path)


def test_a_finding_without_lines_is_read_from_the_file(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text("x = 1\n\nloss.backward()\n")
    bare = replace(BACKWARD, file=str(file), line=3, source=[], column=None, end_column=None)
    assert render(bare, color=False, width=120, root=tmp_path).splitlines()[1:4] == [
        " --> train.py:3",
        "  |",
        "3 | loss.backward()",
    ]


def test_no_printed_line_is_wider_than_asked() -> None:
    for width in (40, 57, 80, 120):
        for case in CASES.values():
            for line in render(case.finding, color=False, width=width, root=Path.cwd()).splitlines():
                assert len(line) <= max(width, 40), (width, line)


@settings(max_examples=150, deadline=None)
@given(
    text=st.text(max_size=200),
    column=st.none() | st.integers(-5, 250),
    end=st.integers(-5, 250),
    width=st.integers(1, 200),
)
def test_any_line_and_any_columns_can_be_shown(text: str, column: int | None, end: int, width: int) -> None:
    finding = replace(BACKWARD, source=[(88, text)], column=column, end_column=end, label=text, message=text)
    shown = render(finding, color=False, width=width, root=Path.cwd())
    assert all(letter == "\n" or unicodedata.category(letter) not in ("Cc", "Cs") for letter in shown)
    assert all(width_of(line) <= max(width, 40) for line in shown.split("\n") if line.startswith("88 | "))


def test_colour_follows_the_terminal_and_what_the_user_set() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    pipe, closed = io.StringIO(), io.StringIO()
    closed.close()
    assert wants_color(Terminal(), {})
    assert not wants_color(pipe, {})
    assert not wants_color(closed, {})
    assert not wants_color(Terminal(), {"NO_COLOR": "1"})
    assert not wants_color(Terminal(), {"TERM": "dumb"})
    assert wants_color(pipe, {"FORCE_COLOR": "1"})
    assert not wants_color(Terminal(), {"FORCE_COLOR": "0"})
    assert not wants_color(pipe, {"FORCE_COLOR": "1", "NO_COLOR": "1"})
    assert terminal_width(pipe) == 120


def test_paths_are_told_from_the_root_and_never_upwards(tmp_path: Path) -> None:
    assert place_of(str(tmp_path / "a" / "b.py"), 3, tmp_path) == "a/b.py:3"
    assert place_of("/elsewhere/b.py", 3, tmp_path) == "/elsewhere/b.py:3"
    assert place_of("<ipython-input-1>", None, tmp_path) == "<ipython-input-1>"
