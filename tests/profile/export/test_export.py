"""Profiles as files of other tools: written, and read back by those formats' own rules."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import numpy as np
import pytest

from stepscope.errors import NotFound, UsageError
from stepscope.profile.export.chrome import chrome_bytes, write_chrome
from stepscope.profile.export.export import export
from stepscope.profile.export.sheets import as_sheet, sheet_csv, write_sheet
from stepscope.profile.profile import Profile
from stepscope.profile.trace.build import Builder, events_of
from stepscope.profile.trace.events import Events
from stepscope.records.profile import Column, Curve, Part, Sheet, Stack, StepParts

SAMPLES = Path(__file__).parents[2] / "samples" / "traces"


def same(a: Events, b: Events) -> None:
    for name in ("start", "dur", "ph"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    assert [a.names[i] for i in a.name] == [b.names[i] for i in b.name]
    assert [a.cats[i] for i in a.cat] == [b.cats[i] for i in b.cat]
    assert [a.lanes[i] for i in a.lane] == [b.lanes[i] for i in b.lane]
    assert a.lane_names == b.lane_names
    assert set(a.args) == set(b.args)
    for key, column in a.args.items():
        other = b.args[key]
        np.testing.assert_array_equal(column.rows, other.rows, err_msg=key)
        if column.kind == "text":
            assert [a.texts[i] for i in column.values] == [b.texts[i] for i in other.values], key
        else:
            np.testing.assert_array_equal(column.values, other.values, err_msg=key)


@pytest.mark.parametrize("sample", ["h200_plain", "two_ranks_rank0"])
def test_a_chrome_trace_reads_back_as_the_same_table(sample: str) -> None:
    events = events_of(json.loads(gzip.decompress((SAMPLES / f"{sample}.json.gz").read_bytes())))
    same(events, events_of(json.loads(b"".join(chrome_bytes(events)))))


def test_shapes_go_out_as_lists_and_names_are_escaped(tmp_path: Path) -> None:
    builder = Builder()
    builder.add('say "hi" </script>', "cpu_op", start=1_500, dur=250, args={"Input Dims": [[2, 3]], "note": "[open"})
    write_chrome(builder.events(), tmp_path / "trace.json.gz")
    event = json.loads(gzip.decompress((tmp_path / "trace.json.gz").read_bytes()))["traceEvents"][0]
    assert event["name"] == 'say "hi" </script>'
    assert (event["ts"], event["dur"]) == (1.5, 0.25)
    assert event["args"] == {"Input Dims": [[2, 3]], "note": "[open"}
    assert [path.name for path in tmp_path.iterdir()] == ["trace.json.gz"]


SHEET = Sheet(
    id="t",
    title="T",
    columns=[
        Column(key="name", label="name"),
        Column(key="own_ns", label="own", unit="ns"),
        Column(key="ok", label="ok", unit="flag"),
    ],
    rows=[["=HYPERLINK(1)", 12, True], ["b,c", None, False]],
)


def test_csv_is_safe_to_open_in_a_spreadsheet_and_unknown_is_empty() -> None:
    rows = list(csv.reader(io.StringIO(sheet_csv(SHEET).decode())))
    assert rows == [["name", "own_ns", "ok"], ["'=HYPERLINK(1)", "12", "True"], ["b,c", "", "False"]]


def test_parquet_keeps_types_and_what_columns_mean(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    write_sheet(SHEET, tmp_path / "t.parquet")
    table = parquet.read_table(tmp_path / "t.parquet")
    assert table.to_pydict() == {"name": ["=HYPERLINK(1)", "b,c"], "own_ns": [12, None], "ok": [True, False]}
    assert json.loads(table.schema.metadata[b"stepscope"])["title"] == "T"


def test_every_kind_of_answer_is_a_table() -> None:
    parts = StepParts(id="s", title="S", parts=[Part(key="f", label="F")], steps=[4], wall_ns=[9], parts_ns=[[9]])
    assert as_sheet(parts).rows == [[4, 9, 9]]
    assert as_sheet(Curve(id="c", title="C", at_ns=[0, 5], lines={"used": [1.0, 2.0]})).rows == [[0, 1.0], [5, 2.0]]
    stack = Stack(
        id="p", title="P", names=["main", "f"], files=["a.py", "a.py"], lines=[1, 5], parent=[-1, 0], name=[0, 1],
        total=[10.0, 4.0], own=[6.0, 4.0],
    )  # fmt: skip
    assert as_sheet(stack).levels == [0, 1]
    assert as_sheet(stack).rows[1] == [1, 0, "f", "a.py", 5, 4.0, 4.0, None]


def test_a_folder_of_tables_has_one_file_an_analysis(tmp_path: Path) -> None:
    events = events_of(json.loads(gzip.decompress((SAMPLES / "h200_plain.json.gz").read_bytes())))
    written = export(Profile.of_events({0: events}), "csv", tmp_path / "tables")
    names = {path.name for path in written}
    assert {"operators.csv", "kernels.csv", "steps.csv"} <= names
    assert names == {path.name for path in (tmp_path / "tables").iterdir()}


def test_what_is_not_there_is_said_with_what_to_do(tmp_path: Path) -> None:
    empty = Profile.of_events({})
    with pytest.raises(NotFound, match="--profiler advanced"):
        export(empty, "prof", tmp_path / "a.prof")
    with pytest.raises(NotFound, match="no events of rank 0"):
        export(empty, "chrome", tmp_path / "a.json")
    with pytest.raises(UsageError, match="chrome, speedscope"):
        export(empty, "excel", tmp_path / "a.xls")
    assert list(tmp_path.iterdir()) == []
