"""Runs in MLflow's local stores: an `mlruns` folder, or a SQLite file such as `mlflow.db`. MLflow is not needed."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from stepscope.errors import BadData
from stepscope.files.listing import is_inside
from stepscope.importers.foreign import ForeignRun, Piece, Source
from stepscope.importers.mlflow.artifacts import artifacts_of
from stepscope.importers.mlflow.database import Database, is_database
from stepscope.importers.mlflow.folder import FileStore, is_file_store
from stepscope.importers.mlflow.stored import Store, StoredRun, local_path
from stepscope.records import ConfigUpdate, End, GitState, TagsChange
from stepscope.track.config import from_text, masked
from stepscope.track.secrets import mask_text

__all__ = ["MlflowStores", "find"]

_DEEPEST = 3
_LONGEST_TAG = 200
SILENT_S = 60.0
_ENDS: dict[str, Literal["finished", "failed", "stopped"]]
_ENDS = {"FINISHED": "finished", "FAILED": "failed", "KILLED": "stopped"}


def find(path: Path) -> Source | None:
    """The MLflow stores at or below `path`, or None."""
    stores = list(_stores(path))
    return MlflowStores(path, stores) if stores else None


class MlflowStores:
    """All stores of a folder; a run keeps its MLflow id."""

    kind = "mlflow"

    def __init__(self, path: Path, stores: list[Store]) -> None:
        self.path = path
        self._stores = stores
        self._found: dict[str, tuple[Store, StoredRun]] = {}
        self._cursors: dict[str, dict[str, Any]] = {}
        self._troubles: list[str] = []

    def runs(self) -> Iterator[ForeignRun]:
        for store in self._stores:
            listed = list(store.runs())
            self._found |= {run.id: (store, run) for run in listed}
            yield from (_foreign(run, self._found) for run in listed)
            self._troubles += store.troubles()

    def read(self, run: ForeignRun, cursor: Any) -> Iterator[Piece]:
        store, stored = self._found[run.key]
        first = {"params": list(run.config), "tags": list(run.tags)}
        had: dict[str, Any] = dict(cursor) if isinstance(cursor, dict) else dict(first)
        self._cursors[run.key] = had
        is_new = cursor is None
        last = stored.start
        try:
            for columns in store.metrics(stored, had.get("metrics")):
                is_new = True
                last = max(last, float(columns.times.max()))
                yield columns
            had["metrics"] = store.cursor(stored)
        except (BadData, OSError) as fault:
            self._troubles.append(f"the metrics of run '{run.name}' cannot be read: {fault}")
        yield from self._changes(run, had, last)
        for piece in self._artifacts(stored, had, last):
            is_new = True
            yield piece
        self._troubles += store.troubles()
        had["last"] = max(last, float(had.get("last", 0)))
        end = _end(stored, had["last"])
        if end is not None and (is_new or had.get("status") != stored.status):
            had["status"] = stored.status
            yield end

    def _changes(self, run: ForeignRun, had: dict[str, Any], when: float) -> Iterator[Piece]:
        """Parameters and tags that were set since the run was first seen."""
        fresh = {name: value for name, value in run.config.items() if name not in had["params"]}
        if fresh:
            had["params"] += list(fresh)
            yield ConfigUpdate(time=when, values=fresh)
        added = [tag for tag in run.tags if tag not in had["tags"]]
        removed = [tag for tag in had["tags"] if tag not in run.tags]
        if added or removed:
            had["tags"] = list(run.tags)
            yield TagsChange(time=when, add=added, remove=removed)

    def _artifacts(self, stored: StoredRun, had: dict[str, Any], when: float) -> Iterator[Piece]:
        said = local_path(stored.artifacts)
        places = [place for place in (said, stored.beside) if place is not None and os.path.isdir(place)]
        ours = [place for place in places if is_inside(place, self._home)]
        if ours:
            seen = had.setdefault("artifacts", {})
            yield from artifacts_of(ours[0], stored.tags, seen, self._troubles)
        elif (places or said is None) and stored.artifacts and not had.get("elsewhere"):
            had["elsewhere"] = True
            self._troubles.append(
                f"the artifacts of run '{stored.name}' are at {stored.artifacts}, outside "
                f"{self._home}: they were not imported"
            )

    @property
    def _home(self) -> Path:
        """The folder the user named: its files must not make us read others."""
        return self.path.parent if self.path.is_file() else self.path

    def cursor(self, run: ForeignRun) -> Any:
        return self._cursors[run.key]

    def troubles(self) -> list[str]:
        told, self._troubles = self._troubles, []
        return told


def _foreign(run: StoredRun, known: dict[str, tuple[Store, StoredRun]]) -> ForeignRun:
    parent = run.tags.get("mlflow.parentRunId")
    group = known[parent][1].name if parent in known else parent
    commit = run.tags.get("mlflow.source.git.commit")
    own = {key: value for key, value in run.tags.items() if not key.startswith("mlflow.")}
    return ForeignRun(
        key=run.id,
        name=mask_text(run.name),
        project=mask_text(run.experiment),
        created=run.start,
        config=masked({key: from_text(value) for key, value in run.params.items()}),
        tags=[mask_text(f"{key}={value}" if value else key)[:_LONGEST_TAG] for key, value in own.items()],
        notes=mask_text(run.tags.get("mlflow.note.content", "")),
        group=group,
        more={
            "user": run.tags.get("mlflow.user") or run.user,
            "script": run.tags.get("mlflow.source.name"),
            "git": GitState(commit=commit, branch=run.tags.get("mlflow.source.git.branch")) if commit else None,
        },
    )


def _end(run: StoredRun, last: float) -> End | None:
    status = _ENDS.get(run.status)
    if status is not None:
        return End(time=run.end or last, status=status)
    if time.time() - last > SILENT_S:
        return End(
            time=last, status="failed", error=f"MLflow reports {run.status}, but nothing is being logged any more"
        )
    return None


def _stores(path: Path) -> Iterator[Store]:
    if path.is_file():
        if is_database(path):
            yield Database(path)
        return
    base = len(path.parts)
    for folder, inner, files in os.walk(path):
        here = Path(folder)
        if is_file_store(here):
            yield FileStore(here)
            inner[:] = []
            continue
        if len(here.parts) - base >= _DEEPEST:
            inner[:] = []
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        yield from (
            Database(here / name)
            for name in sorted(files)
            if name.endswith((".db", ".sqlite")) and not (here / name).is_symlink() and is_database(here / name)
        )
