"""MLflow's SQLite database, `mlflow.db` by default, read without MLflow."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from stepscope.errors import BadData
from stepscope.importers.foreign import Columns
from stepscope.importers.mlflow.stored import StoredRun, columns_of
from stepscope.importers.sqlite import number_of, opened, tables_of, text_of

_RUNS = """
    SELECT runs.run_uuid, runs.name, experiments.name, runs.status, runs.start_time, runs.end_time, runs.user_id,
           runs.artifact_uri, runs.experiment_id
    FROM runs LEFT JOIN experiments ON experiments.experiment_id = runs.experiment_id
    WHERE runs.lifecycle_stage = 'active' AND coalesce(experiments.lifecycle_stage, 'active') = 'active'
    ORDER BY runs.start_time
"""
_METRICS = """
    SELECT key, timestamp, CASE WHEN is_nan THEN NULL ELSE value END, step, rowid FROM metrics
    WHERE run_uuid = ? AND rowid > ? ORDER BY rowid
"""


class _Metric(NamedTuple):
    """A row of `_METRICS`; other programs wrote the cells, so each may be anything."""

    key: Any
    timestamp: Any
    value: Any
    step: Any
    rowid: int


def is_database(path: Path) -> bool:
    """Whether it is a SQLite file with MLflow's tables."""
    return tables_of(path) >= {"runs", "metrics", "params", "tags", "experiments"}


class Database:
    """SQLite numbers rows in order of insertion: a cursor is such a number."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read_to: dict[str, int] = {}
        self._troubles: list[str] = []

    def runs(self) -> Iterator[StoredRun]:
        try:
            with opened(self._path) as database:
                rows = database.execute(_RUNS).fetchall()
                params = _by_run(database.execute("SELECT run_uuid, key, value FROM params").fetchall())
                tags = _by_run(database.execute("SELECT run_uuid, key, value FROM tags").fetchall())
        except BadData as fault:
            self._troubles.append(str(fault))
            return
        for cells in rows:
            yield _stored(cells, params, tags, self._path.parent / "mlruns")

    def metrics(self, run: StoredRun, cursor: Any) -> Iterator[Columns]:
        last = cursor if isinstance(cursor, int) else 0
        with opened(self._path) as database:
            rows = database.execute(_METRICS, (run.id, last)).fetchall()
        rows = [_Metric._make(cells) for cells in rows]
        self._read_to[run.id] = max((row.rowid for row in rows), default=last)
        numbers = [row for row in rows if row.value is None or isinstance(row.value, (int, float))]
        if len(numbers) < len(rows):
            left = len(rows) - len(numbers)
            self._troubles.append(f"{self._path}: {left:,} values of run '{run.name}' are not numbers and were skipped")
        numbers.sort(key=_name_of)  # stable: within a metric they stay in order
        for name, some in groupby(numbers, key=_name_of):
            yield columns_of(name, [(number_of(row.timestamp), _float_of(row.value), row.step) for row in some])

    def cursor(self, run: StoredRun) -> Any:
        return self._read_to.get(run.id, 0)

    def troubles(self) -> list[str]:
        told, self._troubles = self._troubles, []
        return told


def _name_of(row: _Metric) -> str:
    return text_of(row.key)


def _float_of(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _stored(
    cells: tuple[Any, ...], params: dict[str, dict[str, str]], tags: dict[str, dict[str, str]], folder: Path
) -> StoredRun:
    """A row of `runs`."""
    number, name, experiment, status, _, _, user, artifacts, group = (text_of(cell) for cell in cells)
    start, end = number_of(cells[4]) / 1000, number_of(cells[5]) / 1000
    return StoredRun(
        id=number,
        name=name or tags.get(number, {}).get("mlflow.runName") or number,
        experiment=experiment or "Default",
        status=status or "RUNNING",
        start=start,
        end=end or None,
        user=user,
        params=params.get(number, {}),
        tags=tags.get(number, {}),
        artifacts=artifacts,
        beside=folder / group / number / "artifacts",
    )


def _by_run(rows: list[tuple[Any, Any, Any]]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for number, key, value in rows:
        found.setdefault(text_of(number), {})[text_of(key)] = text_of(value)
    return found
