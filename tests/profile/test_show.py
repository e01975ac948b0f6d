"""Tables and breakdowns in a terminal: fit the width, say what is left out, never show zero for unknown."""

from __future__ import annotations

import pytest

from stepscope.errors import NotFound
from stepscope.profile.show import cell_text, sheet_text, sorted_rows
from stepscope.records.profile import Check, Column, Sheet

SHEET = Sheet(
    id="functions",
    title="Functions",
    columns=[
        Column(key="name", label="function"),
        Column(key="place", label="where", unit="line"),
        Column(key="own_ns", label="own", unit="ns"),
        Column(key="share", label="share", unit="share"),
        Column(key="calls", label="calls", unit="count", hidden=True),
    ],
    rows=[
        [
            "forward of a layer with a very long name indeed",
            "/home/me/project/models/attention.py:120",
            12_340_000,
            0.834,
            7,
        ],
        ["step", "train.py:9", 5_000, 0.1, 100],
        ["unknown", None, None, None, 3],
    ],
    notes=["sampled"],
    checks=[
        Check(name="own times sum to the whole", got=1.0, expected=2.0, ok=False),
        Check(name="fine", got=1, expected=1),
    ],
)


def test_a_wide_terminal_shows_all() -> None:
    assert sheet_text(SHEET, width=120) == "\n".join([
        "Functions",
        "  function                                         where                                         own  share",
        "  forward of a layer with a very long name indeed  /home/me/project/models/attention.py:120  12.3 ms  83.4%",
        "  step                                             train.py:9                                   5 us  10.0%",
        "  unknown                                          -                                               -      -",
        "  sampled",
        "  ! own times sum to the whole: 1 against 2",
    ])  # fmt: skip


def test_a_narrow_one_shortens_names_and_keeps_the_end_of_places() -> None:
    lines = sheet_text(SHEET, width=64).splitlines()
    assert max(map(len, lines)) <= 64
    assert "attention.py:120" in lines[2]
    assert "83.4%" in lines[2]


def test_a_very_narrow_one_leaves_numbers_out_and_says_so() -> None:
    text = sheet_text(SHEET, width=44, most=1)
    assert "not shown: own, share" in text
    assert "and 2 more" in text


@pytest.mark.parametrize("by", ["calls", "Calls", "own_ns", "own"])
def test_rows_are_sorted_by_a_column_largest_first_unknown_last(by: str) -> None:
    names = [row[0] for row in sorted_rows(SHEET, by).rows]
    assert names[0] == ("step" if by.lower() == "calls" else SHEET.rows[0][0])
    assert by.lower() == "calls" or names[-1] == "unknown"


def test_texts_are_sorted_by_their_letters() -> None:
    assert [row[0][0] for row in sorted_rows(SHEET, "function").rows] == ["f", "s", "u"]


def test_an_unknown_column_is_named_with_those_there_are() -> None:
    with pytest.raises(NotFound, match="no column 'cost' to sort by; it has name, place, own_ns, share, calls"):
        sorted_rows(SHEET, "cost")


def test_names_cannot_write_to_the_terminal() -> None:
    assert "\x1b" not in cell_text("\x1b]52;c;ZXZpbA==\x07evil", "text")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (999_600, "ns", "1 ms"),
        (59e9, "ns", "59 s"),
        (0, "bytes", "0 B"),
        (1536, "bytes", "1.5 KiB"),
        (float("nan"), "ns", "-"),
    ],
)
def test_values_read_well(value: float, unit: str, text: str) -> None:
    assert cell_text(value, unit) == text  # type: ignore[arg-type]
