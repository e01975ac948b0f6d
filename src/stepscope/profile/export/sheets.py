"""Answers of analyses as files: CSV, JSON, Parquet. A curve, a stack and step parts become tables first."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import msgspec

from stepscope.errors import MissingExtra, UsageError
from stepscope.export.as_csv import safe_text
from stepscope.profile.analyses.analysis import Answer
from stepscope.records.profile import Column, Curve, Sheet, Stack, StepParts
from stepscope.runs.format.layout import write_file


def as_sheet(answer: Answer) -> Sheet:
    """Any answer as a table."""
    if isinstance(answer, StepParts):
        return _of_parts(answer)
    if isinstance(answer, Curve):
        return _of_curve(answer)
    return _of_stack(answer) if isinstance(answer, Stack) else answer


def _of_parts(parts: StepParts) -> Sheet:
    columns = [Column(key="step", label="step", unit="count"), Column(key="wall_ns", label="step time", unit="ns")]
    columns += [Column(key=f"{part.key}_ns", label=part.label, unit="ns", help=part.help) for part in parts.parts]
    pairs = zip(parts.steps, parts.wall_ns, parts.parts_ns, strict=True)
    rows = [[step, wall, *split] for step, wall, split in pairs]
    return Sheet(id=parts.id, title=parts.title, columns=columns, rows=rows, checks=parts.checks, notes=parts.notes)


def _of_curve(curve: Curve) -> Sheet:
    columns = [Column(key="at_ns", label="time", unit="ns")]
    columns += [Column(key=name, label=name, unit=curve.unit) for name in curve.lines]
    rows = [list(row) for row in zip(curve.at_ns, *curve.lines.values(), strict=True)]
    return Sheet(id=curve.id, title=curve.title, columns=columns, rows=rows, notes=curve.notes)


def _of_stack(stack: Stack) -> Sheet:
    levels: list[int] = []
    for parent in stack.parent:
        levels.append(0 if parent < 0 else levels[parent] + 1)
    columns = [
        Column(key="node", label="node", unit="count"),
        Column(key="parent", label="parent", unit="count", help="The node it was called from; empty for a root."),
        Column(key="function", label="function"),
        Column(key="file", label="file"),
        Column(key="line", label="line", unit="count"),
        Column(key="total", label="total", unit=stack.unit),
        Column(key="own", label="own", unit=stack.unit),
        Column(key="calls", label="calls", unit="count"),
    ]
    calls: list[int | None] = list(stack.calls) if stack.calls else [None] * len(stack.parent)
    rows = [
        [node, None if stack.parent[node] < 0 else stack.parent[node], stack.names[name], stack.files[name],
         stack.lines[name], stack.total[node], stack.own[node], calls[node]]
        for node, name in enumerate(stack.name)
    ]  # fmt: skip
    return Sheet(id=stack.id, title=stack.title, columns=columns, rows=rows, levels=levels, notes=stack.notes)


def sheet_csv(answer: Answer) -> bytes:
    """A line a row under the columns' keys, which say their units: `total_ns`, `peak_bytes`."""
    sheet = as_sheet(answer)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([safe_text(column.key) for column in sheet.columns])
    for row in sheet.rows:
        writer.writerow([safe_text(cell) if isinstance(cell, str) else "" if cell is None else cell for cell in row])
    return out.getvalue().encode()


def sheet_json(answer: Answer) -> bytes:
    """The record itself: a sheet with its columns' meaning, checks and notes."""
    return msgspec.json.encode(answer)


def write_sheet(answer: Answer, path: str | Path) -> None:
    """Write it as the file's name says: .csv, .json or .parquet."""
    path = Path(path)
    if path.suffix == ".csv":
        write_file(path, sheet_csv(answer))
    elif path.suffix == ".json":
        write_file(path, sheet_json(answer))
    elif path.suffix == ".parquet":
        write_file(path, _parquet(as_sheet(answer)))
    else:
        raise UsageError(f"{path.name}: a table is written as .csv, .json or .parquet")


def _parquet(sheet: Sheet) -> bytes:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("writing parquet", "pyarrow", extra="parquet") from None
    kinds = {"text": pa.string(), "line": pa.string(), "flag": pa.bool_(), "count": pa.int64(), "ns": pa.int64()}
    arrays = []
    for index, column in enumerate(sheet.columns):
        cells = [row[index] for row in sheet.rows]
        kind = kinds.get(column.unit, pa.float64())
        if kind == pa.int64() and any(isinstance(cell, float) for cell in cells):
            kind = pa.float64()
        if kind == pa.string():
            cells = [None if cell is None else str(cell) for cell in cells]
        arrays.append(pa.array(cells, kind))
    about: dict[str, Any] = {
        "title": sheet.title,
        "columns": sheet.columns,
        "notes": sheet.notes,
        "checks": sheet.checks,
    }
    table = pa.table(arrays, names=[column.key for column in sheet.columns])
    out = io.BytesIO()
    pq.write_table(table.replace_schema_metadata({"stepscope": msgspec.json.encode(about)}), out, compression="zstd")
    return out.getvalue()
