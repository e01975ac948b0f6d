"""Tables: every form gives the same JSON, and no value can make it invalid."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

from stepscope.errors import UsageError
from stepscope.track.media import Table


def refuse(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


def content(table: Table) -> tuple[dict[str, Any], list[str], list[list[Any]]]:
    [(record, data)] = table.encode("k", 0, 0.0)
    assert (record.kind, record.mime) == ("table", "application/json")
    assert data is not None
    tree = json.loads(data, parse_constant=refuse)
    return record.meta, tree["columns"], tree["rows"]


@pytest.mark.parametrize(
    "table",
    [
        Table(columns=["a", "b"], rows=[[1, "x"], [2, "y"]]),
        Table([[1, "x"], [2, "y"]], columns=["a", "b"]),
        Table([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]),
        Table({"a": [1, 2], "b": ["x", "y"]}),
        Table({"a": np.array([1, 2]), "b": ("x", "y")}),
        Table(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})),
        Table(pl.DataFrame({"a": [1, 2], "b": ["x", "y"]})),
        Table(np.array([(1, "x"), (2, "y")], dtype=[("a", "i8"), ("b", "U1")])),
    ],
)
def test_one_table_in_every_form(table: Table) -> None:
    meta, columns, rows = content(table)
    assert (columns, rows) == (["a", "b"], [[1, "x"], [2, "y"]])
    assert meta == {"rows": 2, "columns": 2, "truncated": 0}


@pytest.mark.parametrize("array", [np.array([[1.5, 2.0]]), torch.tensor([[1.5, 2.0]])])
def test_a_bare_array_has_numbered_columns(array: Any) -> None:
    assert content(Table(array))[1:] == (["0", "1"], [[1.5, 2.0]])
    assert content(Table(array, columns=["p", "q"]))[1] == ["p", "q"]
    assert content(Table(array[0]))[1:] == (["value"], [[1.5], [2.0]])


def test_dicts_with_different_keys_leave_gaps() -> None:
    assert content(Table([{"a": 1}, {"b": 2}]))[1:] == (["a", "b"], [[1, None], [None, 2]])


def test_an_index_that_says_something_is_kept() -> None:
    frame = pd.DataFrame({"n": [1, 2]}, index=pd.Index(["x", "y"], name="who"))
    assert content(Table(frame))[1:] == (["who", "n"], [["x", 1], ["y", 2]])
    grouped = pd.DataFrame({("a", "min"): [1]})
    assert content(Table(grouped))[1] == ["a / min"]


def test_values_json_cannot_hold_are_kept_as_text() -> None:
    values = [
        (float("nan"), "NaN"), (float("inf"), "Infinity"), (-np.inf, "-Infinity"), (np.float32("nan"), "NaN"),
        (2**53, 2**53), (2**60, str(2**60)), (np.int64(7), 7), (np.bool_(True), True), (torch.tensor(2.5), 2.5),
        (None, None), (pd.NaT, None), (pd.NA, None), (datetime.date(2024, 1, 2), "2024-01-02"),
        (Decimal("1.10"), "1.10"), ([1, 2], "[1, 2]"), (b"\xff", "b'\\xff'"), ("x" * 5000, "x" * 1999 + "…"),
        (np.datetime64("2024-01-02"), "2024-01-02"), ("</script>", "</script>"), (1 + 2j, "(1+2j)"),
    ]  # fmt: skip
    _, _, rows = content(Table([[value] for value, _ in values]))
    assert [row[0] for row in rows] == [expected for _, expected in values]


def test_frames_with_missing_values_dates_and_categories() -> None:
    frame = pd.DataFrame(
        {
            "f": [1.0, np.nan],
            "i": pd.array([1, None], dtype="Int64"),
            "t": pd.to_datetime(["2024-01-02", None]),
            "c": pd.Categorical(["a", "b"]),
        }
    )
    assert content(Table(frame))[2] == [[1.0, 1, "2024-01-02T00:00:00", "a"], ["NaN", None, None, "b"]]
    frame = pl.DataFrame({"f": [1.0, None], "d": [datetime.date(2024, 1, 2), None], "l": [[1], [2, 3]]})
    assert content(Table(frame))[2] == [[1.0, "2024-01-02", "[1]"], [None, None, "[2, 3]"]]


def test_a_long_table_is_cut_and_says_so() -> None:
    for data in (pd.DataFrame({"a": range(10_003)}), pl.DataFrame({"a": range(10_003)}), np.zeros((10_003, 1))):
        assert content(Table(data))[0] == {"rows": 10_000, "columns": 1, "truncated": 3}
    assert content(Table({"a": [1, 2, 3]}, max_rows=2))[0]["truncated"] == 1


def test_later_changes_do_not_show() -> None:
    rows, frame = [[1]], pd.DataFrame({"a": [1]})
    tables = [Table(rows), Table(frame)]
    rows[0][0] = 9
    frame.loc[0, "a"] = 9
    assert [content(table)[2] for table in tables] == [[[1]], [[1]]]


def test_empty_tables() -> None:
    assert content(Table([]))[1:] == ([], [])
    assert content(Table([], columns=["a"]))[1:] == (["a"], [])
    assert content(Table(pd.DataFrame({"a": []})))[1:] == (["a"], [])
    assert content(Table({"a": []}))[1:] == (["a"], [])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "either data or rows="),
        ({"data": [], "rows": []}, "either data or rows="),
        ({"data": [[1], [1, 2]]}, r"the same length, but they have \[1, 2\] cells"),
        ({"data": [[1]], "columns": ["a", "b"]}, "1 columns was given 2 names: a, b"),
        ({"data": {"a": [1], "b": [1, 2]}}, "the same length"),
        ({"data": {"a": 3}}, "column 'a' of a table is a int"),
        ({"data": {"a": "text"}}, "column 'a' of a table is a str"),
        ({"data": "text"}, "from a str"),
        ({"data": [1, 2]}, "from a list"),
        ({"data": np.zeros((2, 2, 2))}, r"shape \(2, 2, 2\)"),
        ({"data": np.zeros((1, 2000))}, "2,000 columns"),
        ({"data": [[1]], "max_rows": 0}, "max_rows=0"),
        ({"data": [[1]], "max_rows": 10**9}, "max_rows=1000000000"),
    ],
)
def test_what_is_wrong_is_said(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Table(**arguments).encode("k", 0, 0.0)
