"""One trackio project: a SQLite file, or the parquet files that a Space makes from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import msgspec

from stepscope.errors import BadData, MissingExtra
from stepscope.files.decoding import MALFORMED
from stepscope.files.opening import open_file
from stepscope.importers.sqlite import opened, tables_of, text_of

_MOST_BYTES = 1 << 30
_MOST_CELLS = 50_000_000
_OWN = ("id", "timestamp", "run_name", "step", "run_id", "log_id", "space_id")


@dataclass(frozen=True)
class Row:
    """A row of any table: its number, its time, its step if it has one, and its content."""

    number: int
    time: float
    step: int | None
    values: dict[str, Any]


@dataclass(frozen=True)
class Listed:
    """A run as the project lists it."""

    id: str
    name: str
    first: float
    config: dict[str, Any]


class Project(Protocol):
    name: str
    media: Path

    def runs(self) -> Iterator[Listed]: ...

    def rows(self, table: str, run: str, after: int) -> Iterator[Row]: ...


@lru_cache(maxsize=64)
def seconds(text: str) -> float:
    """Unix seconds of an ISO time; older versions wrote local time without a zone."""
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0


def is_project(path: Path) -> bool:
    """Whether it is a SQLite file with trackio's tables."""
    if not tables_of(path) >= {"metrics", "configs"}:
        return False
    try:
        with opened(path) as database:
            return {"run_name", "metrics", "timestamp", "step"} <= _columns(database, "metrics")
    except BadData:
        return False


def _columns(database: Any, table: str) -> set[str]:
    return {row[1] for row in database.execute(f"PRAGMA table_info({table})")}


def _json(text: Any) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(text)
    except (*MALFORMED, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


class Base:
    """The SQLite file. Rows are numbered in order of insertion."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = path.stem
        self.media = path.parent / "media"

    def runs(self) -> Iterator[Listed]:
        with opened(self._path) as database:
            run = "run_id" if "run_id" in _columns(database, "metrics") else "run_name"
            firsts = database.execute(f"SELECT {run}, run_name, min(timestamp) FROM metrics GROUP BY 1").fetchall()
            configs = database.execute(f"SELECT {run}, run_name, created_at, config FROM configs").fetchall()
        settings = {number: _json(config) for number, _, _, config in configs}
        listed = {number: (name, when) for number, name, when, _ in configs}
        listed |= {number: (name, when) for number, name, when in firsts}
        for number, (name, when) in listed.items():
            yield Listed(text_of(number), text_of(name), seconds(text_of(when)), settings.get(number, {}))

    def rows(self, table: str, run: str, after: int) -> Iterator[Row]:
        """The rows of one run after the one numbered `after`; none if a version lacks the table."""
        with opened(self._path) as database:
            columns = _columns(database, table)
            if not columns:
                return
            which = "run_id" if "run_id" in columns else "run_name"
            step = "step" if "step" in columns else "NULL"
            said = "metrics" if "metrics" in columns else "json_object('title', title, 'text', text, 'level', level)"
            query = f"SELECT id, timestamp, {step}, {said} FROM {table} WHERE {which} = ? AND id > ? ORDER BY id"
            found = database.execute(query, (run, after)).fetchall()
        for number, when, at, text in found:
            yield Row(number, seconds(text_of(when)), at, _json(text))


class Parquet:
    """`<project>.parquet` with a column for each metric, and `<project>_system.parquet`, `_configs.parquet`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = path.stem
        self.media = path.parent / "media"

    def runs(self) -> Iterator[Listed]:
        settings = {_run(row): _said(row) for row in self._table("configs")}
        first: dict[str, tuple[str, float]] = {}
        for row in self._table("metrics"):
            when = seconds(str(row.get("timestamp")))
            known = first.get(_run(row))
            first[_run(row)] = (str(row.get("run_name")), when if known is None else min(when, known[1]))
        for number, (name, when) in first.items():
            yield Listed(number, name, when, settings.get(number, {}))

    def rows(self, table: str, run: str, after: int) -> Iterator[Row]:
        for number, row in enumerate(self._table(table), start=1):
            if _run(row) == run and number > after:
                yield Row(number, seconds(str(row.get("timestamp"))), row.get("step"), _said(row))

    def _table(self, table: str) -> list[dict[str, Any]]:
        ending = {"metrics": "", "system_metrics": "_system", "configs": "_configs"}.get(table)
        path = self._path.with_name(f"{self.name}{ending}.parquet")
        if ending is None or not path.is_file():
            return []
        try:
            import pyarrow.parquet as parquet
        except ImportError:
            raise MissingExtra("reading trackio's parquet files", "pyarrow", extra="parquet") from None
        try:
            with open_file(path, within=path.parent) as file, parquet.ParquetFile(file) as opened_file:
                _check_size(path, opened_file.metadata)
                rows: list[dict[str, Any]] = opened_file.read().to_pylist()
        except (OSError, ValueError) as fault:
            raise BadData(f"{path} cannot be read as parquet: {fault}") from None
        return rows


def _check_size(path: Path, metadata: Any) -> None:
    """Reject a table that expands beyond any real trackio project: equal values compress to almost nothing."""
    size = sum(metadata.row_group(at).total_byte_size for at in range(metadata.num_row_groups))
    if size > _MOST_BYTES or metadata.num_rows * metadata.num_columns > _MOST_CELLS:
        raise BadData(
            f"{path} has {metadata.num_rows:,} rows that expand to {size:,} bytes; the maximum is {_MOST_BYTES:,}"
        )


def _run(row: dict[str, Any]) -> str:
    return str(row.get("run_id") or row.get("run_name"))


def _said(row: dict[str, Any]) -> dict[str, Any]:
    """The metrics or settings of a row; nested ones are stored as JSON text."""
    found = {}
    for name, value in row.items():
        if name not in _OWN and name != "created_at" and value is not None:
            nested = isinstance(value, str) and value[:1] == "{"
            found[name] = _json(value) or value if nested else value
    return found
