"""Patterns mean the same on the server and on the page: web/src/lib/chart-search.test.ts reads the same table."""

from __future__ import annotations

import json
import random
import re
import sys
import time
from pathlib import Path

import pytest

from stepscope.errors import MissingExtra, QueryError
from stepscope.views.safe_pattern import compile_pattern, line_filter

TABLE = json.loads((Path(__file__).parent / "patterns.json").read_text("utf-8"))


@pytest.mark.parametrize(("pattern", "text", "fits"), TABLE["fits"])
def test_patterns_mean_what_people_expect(pattern: str, text: str, fits: bool) -> None:
    assert compile_pattern(pattern)(text) is fits


@pytest.mark.parametrize(("pattern", "position"), TABLE["unreadable"])
def test_an_unreadable_pattern_is_refused_at_its_letter(
    pattern: str, position: int, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(QueryError, match="the pattern cannot be read") as caught:
        compile_pattern(pattern)
    assert caught.value.position == position
    assert capfd.readouterr() == ("", ""), "the engine must not write to the terminal"


def test_a_text_is_passed_over_only_if_no_line_of_it_fits() -> None:
    draw = random.Random(4)
    passed_over = 0
    parts = ["a", "b", "a*", "b?", "c+", "[ab]", "[^a]", ".", "(a|b)", "b{2}", r"\b", "^", "$", r"\A", r"\z"]
    for _ in range(2000):
        pattern = "".join(draw.choice(parts) for _ in range(5))
        text = "".join(draw.choice("abc \n\r") for _ in range(10))
        could, fits = line_filter(pattern)(text), compile_pattern(pattern)
        lines = re.split("[\n\r]", text)
        if any(fits(line) for line in lines):
            assert could, (pattern, text)
        passed_over += not could
    assert passed_over > 300


def test_a_lone_surrogate_is_searched_like_any_letter() -> None:
    assert compile_pattern("^a.b$")("a\udc80b")


def test_no_pattern_can_hang() -> None:
    began = time.process_time()
    for pattern in ("(a+)+b$", "(a|aa)*b", ".*.*.*.*x", "(a*)*c"):
        assert not compile_pattern(pattern)("a" * 20_000)
    assert time.process_time() - began < 2


def test_without_the_engine_the_install_line_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(MissingExtra, match="pip install google-re2"):
        compile_pattern("a")
