"""Cutting a report's text: nothing is lost, and what is not a panel stays text."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given, strategies as st

from stepscope.report.text import MAX_PANELS, cut, panel_text

LINES = st.sampled_from(
    [
        "---",
        "title: a",
        "```stepscope chart",
        "~~~stepscope table",
        "```",
        "````",
        "~~~",
        "    ```stepscope chart",
        "```python",
        "key: loss",
        "key loss",
        "# A heading",
        "",
        "\r",
        "\ufeff---",
        "\u2028\x85\x0b",
    ]
)


@given(st.lists(LINES | st.text(max_size=12), max_size=30), st.booleans())
def test_the_pieces_put_together_are_the_text(lines: list[str], ends: bool) -> None:
    text = "\n".join(lines) + "\n" * ends
    pieces = cut(text).pieces
    assert "".join(piece.text for piece in pieces) == text
    assert all(a.end == b.line for a, b in itertools.pairwise(pieces))
    for piece in pieces:
        assert piece.text.rstrip("\n") == "\n".join(text.split("\n")[piece.line : piece.end]).rstrip("\n")


@given(st.text(max_size=400))
def test_any_text_at_all_can_be_cut(text: str) -> None:
    assert "".join(piece.text for piece in cut(text).pieces) == text


OPTION = st.one_of(
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(min_size=1, max_size=30),
    st.lists(st.text(max_size=8), max_size=4),
)


@given(st.dictionaries(st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True), OPTION, max_size=6))
def test_a_panel_reads_back_as_it_was_written(options: dict[str, object]) -> None:
    (piece,) = cut(panel_text("chart", options)).pieces
    assert (piece.kind, piece.panel, piece.options, piece.faults) == ("panel", "chart", options, ())


def test_front_matter_title_and_binding() -> None:
    report = cut('---\ntitle: The VAE\nruns: A, B\nquery: project = "vae"\n---\n# Heading\n')
    assert report.title == "The VAE"
    assert report.front == {"title": "The VAE", "runs": "A, B", "query": 'project = "vae"'}


def test_without_front_matter_the_first_heading_is_the_title() -> None:
    assert cut("text\n\n# Seen *here* #\n").title == "Seen *here*"
    assert cut("---\nnever closed: yes\n").title == "Untitled report"
    assert cut("").title == "Untitled report"


def test_a_panel_shown_as_an_example_stays_text() -> None:
    text = "````markdown\n```stepscope chart\nkey: loss\n```\n````\n"
    assert [piece.kind for piece in cut(text).pieces] == ["markdown"]


def test_a_panel_with_longer_fences_and_windows_line_ends() -> None:
    (piece,) = cut("~~~~stepscope chart\r\nkey: loss\r\nlog: true\r\n~~~~\r\n").pieces
    assert piece.options == {"key": "loss", "log": True}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("```stepscope chart\nkey: a", "the block is never closed; end it with a line of ```"),
        ("```stepscope\n```", "the block names no panel; write ```stepscope chart, for example"),
        ("```stepscope chart\nkey loss\n```", "'key loss' is not an option; write it as `name: value`"),
        ("```stepscope chart\nkey: a\nkey: b\n```", "key is given twice"),
        ("```stepscope chart loss\n```", "'loss' is one word too many; put each option on its own line"),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, fault: str) -> None:
    assert [one.text for one in cut("intro\n" + text).faults] == [fault]
    assert all(1 <= one.line <= 3 for one in cut("intro\n" + text).faults)


def test_values_are_json_where_they_are_json() -> None:
    (piece,) = cut('```stepscope chart\na: 0.5\nb: [1, "x"]\nc: NaN\nd: "12"\ne: ema:0.6\nf:\n# g: 1\n```').pieces
    assert piece.options == {"a": 0.5, "b": [1, "x"], "c": "NaN", "d": "12", "e": "ema:0.6", "f": ""}


@pytest.mark.parametrize(
    "text",
    [
        "```" * 300_000,
        "```stepscope chart\n" + "[" * 500_000 + "\n```",
        "```stepscope chart\nkey: " + "[" * 500_000 + "\n```",
        "```stepscope chart\nkey: " + "9" * 500_000 + "\n```",
        "# " + " " * 900_000 + "x",
        "```" + " " * 900_000 + "x",
        "```stepscope chart\n```\n" * 40_000,
        "---\n" + "a: " * 300_000,
    ],
)
def test_huge_and_deep_texts_are_cut_at_once(text: str) -> None:
    before = time.process_time()
    report = cut(text)
    assert time.process_time() - before < 1.5
    assert "".join(piece.text for piece in report.pieces) == text
    assert sum(piece.kind == "panel" for piece in report.pieces) <= MAX_PANELS
    assert len(report.title) <= 200
