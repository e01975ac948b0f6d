"""Runs that W&B stored on this disk: `wandb/offline-run-*` and `wandb/run-*`, read without the wandb package."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stepscope.errors import BadData
from stepscope.importers.foreign import ForeignRun, Piece, Source
from stepscope.importers.wandb.facts import first_facts
from stepscope.importers.wandb.reader import Reader

__all__ = ["WandbFolder", "find"]

_DEEPEST = 5
"""Maximum depth at which `wandb/run-*` is searched below the given folder."""


def find(path: Path) -> Source | None:
    """The W&B runs at or below `path` (a folder, or one `.wandb` file), or None."""
    return WandbFolder(path) if next(_logs(path), None) is not None else None


class WandbFolder:
    """Each `.wandb` file is a run; a run that was resumed offline has a folder, and is a run, for each start."""

    kind = "wandb"

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[str, ForeignRun] = {}
        self._readers: dict[str, Reader] = {}
        self._troubles: list[str] = []
        self._refused: set[str] = set()

    def runs(self) -> Iterator[ForeignRun]:
        for log in _logs(self.path):
            key = log.name if log == self.path else log.relative_to(self.path).as_posix()
            run = self._known.get(key)
            if run is None and key not in self._refused:
                run = self._first(log, key)
            if run is not None:
                yield run

    def _first(self, log: Path, key: str) -> ForeignRun | None:
        try:
            run = first_facts(log, key)
        except (OSError, BadData) as fault:
            self._refused.add(key)
            self._troubles.append(str(fault))
            return None
        if run is not None:
            self._known[key] = run
        return run

    def read(self, run: ForeignRun, cursor: Any) -> Iterator[Piece]:
        reader = self._readers.get(run.key)
        if reader is None or not reader.stands_at(cursor):
            path = self.path if self.path.is_file() else self.path / run.key
            reader = self._readers[run.key] = Reader(path, run)
            if cursor is not None:
                reader.catch_up(cursor)
        yield from reader.read()
        self._troubles += reader.lost
        reader.lost = []

    def cursor(self, run: ForeignRun) -> Any:
        return self._readers[run.key].cursor

    def troubles(self) -> list[str]:
        told, self._troubles = self._troubles, []
        return told


def _logs(path: Path) -> Iterator[Path]:
    """The `.wandb` files, oldest first; links like `latest-run` are not followed."""
    if path.is_file():
        if path.suffix == ".wandb":
            yield path
        return
    base = len(path.parts)
    for folder, inner, files in os.walk(path):
        here = Path(folder)
        found = sorted(name for name in files if name.startswith("run-") and name.endswith(".wandb"))
        if found or len(here.parts) - base >= _DEEPEST:
            inner[:] = []
        inner[:] = sorted(name for name in inner if not name.startswith(".") or name == ".wandb")
        yield from (here / name for name in found)
