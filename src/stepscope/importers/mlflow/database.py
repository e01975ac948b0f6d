"""MLflow's SQLite database, `mlflow.db` by default, read without MLflow."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from stepscope.errors import BadData
from stepscope.importers.foreign import Columns
from stepscope.importers.mlflow.stored import StoredRun, columns_of
from stepscope.importers.sqlite import opened, tables_of

__all__ = ["Database", "is_database"]

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


def is_database(path: Path) -> bool:
    """Is it a SQLite file with MLflow's tables?"""
    return tables_of(path) >= {"runs", "metrics", "params", "tags", "experiments"}


class Database:
    """Rows are numbered by SQLite in the order they came: a cursor is such a number."""

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
        for number, name, experiment, status, start, end, user, artifacts, folder in rows:
            yield StoredRun(
                id=number,
                name=name or tags.get(number, {}).get("mlflow.runName") or number,
                experiment=experiment or "Default",
                status=status or "RUNNING",
                start=(start or 0) / 1000,
                end=end / 1000 if end else None,
                user=user or "",
                params=params.get(number, {}),
                tags=tags.get(number, {}),
                artifacts=artifacts or "",
                beside=self._path.parent / "mlruns" / str(folder) / number / "artifacts",
            )

    def metrics(self, run: StoredRun, cursor: Any) -> Iterator[Columns]:
        last = cursor if isinstance(cursor, int) else 0
        with opened(self._path) as database:
            rows = database.execute(_METRICS, (run.id, last)).fetchall()
        self._read_to[run.id] = max((row[4] for row in rows), default=last)
        rows.sort(key=lambda row: row[0])  # stable: within a metric they stay in the order they came
        for key, some in groupby(rows, key=lambda row: row[0]):
            found = [(row[1], float("nan") if row[2] is None else float(row[2]), row[3]) for row in some]
            yield columns_of(key, found)

    def cursor(self, run: StoredRun) -> Any:
        return self._read_to.get(run.id, 0)

    def troubles(self) -> list[str]:
        told, self._troubles = self._troubles, []
        return told


def _by_run(rows: list[tuple[str, str, Any]]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for number, key, value in rows:
        found.setdefault(number, {})[key] = "" if value is None else str(value)
    return found
