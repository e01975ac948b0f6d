"""Exports: every point, in formats that other programs read, and nothing that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from pathlib import Path

import pytest

from stepscope.errors import MissingExtra, NotFound, StorageError, UsageError
from stepscope.export import export_chunks, export_run
from stepscope.export.as_csv import safe_text
from stepscope.records import ConfigUpdate, End, RunMeta
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.read.folder import RunFolder, open_run
from stepscope.runs.write.writer import RunWriter


@pytest.fixture
def run(store: Path) -> RunFolder:
    meta = RunMeta(
        id=new_run_id(),
        project="p",
        name="=cmd()",
        created=1.0,
        config={"lr": 0.1},
    )
    path = create_run(store, meta)
    writer = RunWriter(path, run_id=meta.id, heartbeat_s=0, fsync_s=0)
    writer.event(ConfigUpdate(time=1.0, values={"bad": math.nan, "list": [1, math.inf]}))
    for step in range(3):
        writer.keyset(("loss", "=SUM(A1)")).write(step, (1 / 3 if step else math.nan, -step))
    writer.keyset(("loss",)).write(2, (math.inf,))
    writer.keyset(("val/acc",)).write(10, (0.5,))
    writer.keyset(("val/loss",)).write(10, (-math.inf,))
    writer.close(End(time=2.0, status="finished"))
    return open_run(path)


def text(run: RunFolder, format: str, names: list[str] | None = None, layout: object = None) -> str:
    return b"".join(export_chunks(run, format, names, layout)).decode()  # type: ignore[arg-type]


def test_a_wide_csv_has_a_line_per_step_and_loses_no_repeated_step(run: RunFolder) -> None:
    rows = list(csv.DictReader(io.StringIO(text(run, "csv"))))
    assert list(rows[0]) == ["step", "time", "'=SUM(A1)", "loss", "val/acc", "val/loss"]
    assert [(row["step"], row["loss"], row["'=SUM(A1)"], row["val/loss"]) for row in rows] == [
        ("0", "NaN", "0.0", ""),
        ("1", repr(1 / 3), "-1.0", ""),
        ("2", repr(1 / 3), "-2.0", ""),
        ("2", "Infinity", "", ""),
        ("10", "", "", "-Infinity"),
    ]
    assert float(rows[0]["time"]) == run.series("loss").times[0]


def test_a_long_csv_has_a_line_per_point(run: RunFolder) -> None:
    rows = list(csv.reader(io.StringIO(text(run, "csv", ["val/*"], "long"))))
    assert [(row[0], row[1], row[3]) for row in rows] == [
        ("series", "step", "value"),
        ("val/acc", "10", "0.5"),
        ("val/loss", "10", "-Infinity"),
    ]


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM", "\tx", "\rx"])
def test_nothing_in_a_csv_is_a_formula(name: str) -> None:
    assert safe_text(name) == f"'{name}"


def test_json_is_valid_and_keeps_what_json_has_no_number_for(run: RunFolder) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    document = json.loads(text(run, "json"), parse_constant=refuse)
    assert (document["name"], document["status"]) == ("=cmd()", "finished")
    assert document["config"] == {"lr": 0.1, "bad": "NaN", "list": [1, "Infinity"]}
    assert document["series"]["loss"]["steps"] == [0, 1, 2, 2]
    assert document["series"]["loss"]["values"] == ["NaN", 1 / 3, 1 / 3, "Infinity"]
    assert document["summary"]["loss"] == "Infinity"


def test_json_lines_have_a_point_each(run: RunFolder) -> None:
    lines = [json.loads(line) for line in text(run, "jsonl", ["val/*"]).splitlines()]
    assert [(line["series"], line["step"], line["value"]) for line in lines] == [
        ("val/acc", 10, 0.5),
        ("val/loss", 10, "-Infinity"),
    ]


def test_parquet_has_types_and_the_config(run: RunFolder, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    out = tmp_path / "run.parquet"
    assert export_run(run, "parquet", out) == 4
    table = pq.read_table(out)
    assert table.num_rows == 9
    assert [str(field.type) for field in table.schema][1:] == ["int64", "timestamp[us, tz=UTC]", "double"]
    assert json.loads(table.schema.metadata[b"stepscope"])["config"]["lr"] == 0.1
    export_run(run, "parquet", out, layout="wide")
    wide = pq.read_table(out)
    assert wide["step"].to_pylist() == [0, 1, 2, 2, 10]
    assert wide["val/acc"].to_pylist() == [None, None, None, None, 0.5]
    assert math.isnan(wide["loss"].to_pylist()[0])


def test_without_pyarrow_the_install_line_is_named(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"pip install 'stepscope\[parquet\]'"):
        export_run(run, "parquet", io.BytesIO())


def test_series_are_chosen_by_name_or_pattern(run: RunFolder) -> None:
    assert text(run, "csv", ["loss", "val/*"]).splitlines()[0] == "step,time,loss,val/acc,val/loss"
    with pytest.raises(NotFound, match="has no series 'los'; did you mean loss"):
        export_chunks(run, "csv", ["los"])
    with pytest.raises(NotFound, match="it has =SUM"):
        export_chunks(run, "csv", ["qqqqqqqq*"])


def test_a_file_is_replaced_only_when_all_is_written(run: RunFolder, tmp_path: Path) -> None:
    out = tmp_path / "run.csv"
    out.write_text("old")
    with pytest.raises(UsageError, match="choose one of csv, json, jsonl, parquet"):
        export_run(run, "xlsx", out)
    assert out.read_text() == "old"
    assert export_run(run, "csv", out) == 4
    assert out.read_text() == text(run, "csv")
    assert [file.name for file in tmp_path.iterdir() if file.suffix == ".part"] == []
    with pytest.raises(StorageError, match="could not be written"):
        export_run(run, "csv", tmp_path / "missing" / "run.csv")


def test_a_long_series_comes_in_pieces(store: Path) -> None:
    meta = RunMeta(id=new_run_id(), project="p", name="long", created=1.0)
    path = create_run(store, meta)
    writer = RunWriter(path, run_id=meta.id, heartbeat_s=0, fsync_s=0)
    row = writer.keyset(("loss",))
    for step in range(20_000):
        row.write(step, (step * 0.5,))
    writer.close()
    pieces = list(export_chunks(open_run(path), "csv"))
    assert len(pieces) > 4
    lines = b"".join(pieces).decode().splitlines()
    assert len(lines) == 20_001
    assert lines[-1].endswith(",9999.5")


def test_a_run_without_series_is_an_empty_table(store: Path) -> None:
    meta = RunMeta(id=new_run_id(), project="p", name="empty", created=1.0)
    run = open_run(create_run(store, meta))
    assert text(run, "csv") == "step,time\n"
    assert json.loads(text(run, "json"))["series"] == {}
    assert text(run, "jsonl") == ""
