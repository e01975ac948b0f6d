"""The size of a layer is suggested as the code beside it writes it."""

from __future__ import annotations

import ast

import pytest

from stepscope.diagnose.crash.written_sizes import size_beside
from stepscope.diagnose.source import Source
from stepscope.records.step import Site

FILE = "/project/net.py"
FREE = "def make(hidden, config):\n    {before}\n    {between}\n    last = nn.Linear(8, 10)\n"


def beside(before: str, between: str = "pass", names: tuple[str, ...] = ("out_features",)) -> str:
    text = FREE.format(before=before, between=between)
    source = Source({FILE: text})

    def built(call: str) -> Site:
        file = source.file(FILE)
        assert file is not None
        return next(file.site(one) for one in file.walk(ast.Call) if ast.unparse(one) == call)

    return size_beside(source, built("nn.Linear(8, 10)"), built(before.partition("= ")[2]), names, 64)


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("body = nn.Linear(8, hidden)", "hidden"),
        ("body = nn.Linear(8, config.width * 2)", "config.width * 2"),
        ("body = nn.Linear(in_features=8, out_features=hidden)", "hidden"),
        ("body = nn.Linear(8, 64)", "64"),
        ("body = nn.Linear(8, len(words))", "64"),
        ("body = block(8, hidden)", "64"),
    ],
)
def test_names_the_size_as_the_other_layer_does(before: str, expected: str) -> None:
    assert beside(before) == expected


def test_a_name_that_is_bound_again_is_not_used() -> None:
    assert beside("body = nn.Linear(8, hidden)", "hidden = 3") == "64"


def test_a_size_that_the_layer_does_not_have_is_not_used() -> None:
    assert beside("body = nn.LSTM(8, hidden)", names=()) == "64"
