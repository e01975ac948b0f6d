"""Runs of Aim: an `.aim` folder. Its database can only be read with Aim's own package, which must be installed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from stepscope.errors import BadData, MissingExtra
from stepscope.importers.aim.mirror import newest_change
from stepscope.importers.aim.reader import Reader
from stepscope.importers.foreign import ForeignRun, Piece, Source
from stepscope.records import End, GitState
from stepscope.track.config import flatten, masked
from stepscope.track.secrets import mask_text

__all__ = ["AimFolder", "find"]

SILENT_S = 60.0


def find(path: Path) -> Source | None:
    """The Aim repository at `path` (the `.aim` folder, or its parent), or None."""
    folder = path.parent if path.name == ".aim" else path
    return AimFolder(path, folder) if (folder / ".aim" / "meta").is_dir() else None


class AimFolder:
    """Reads through a process that has Aim; none is started if nothing has changed."""

    kind = "aim"

    def __init__(self, path: Path, folder: Path) -> None:
        self.path = path
        self._folder = folder
        self._seen = 0
        self._reader: Reader | None = None
        self._ended: dict[str, float | None] = {}
        self._cursors: dict[str, dict[str, Any]] = {}
        self._troubles: list[str] = []

    def runs(self) -> Iterator[ForeignRun]:
        if find_spec("aim") is None:
            raise MissingExtra("reading an Aim folder", "aim")
        changed = newest_change(self._folder / ".aim")
        if changed == self._seen:
            return
        reader = self._reader = Reader(self._folder)
        try:
            for run in reader.runs():
                self._ended[run["id"]] = run["ended"]
                yield _foreign(run)
            self._seen = changed
        except BadData as fault:  # a file was just being written; the next poll reads it again
            self._troubles.append(f"{self._folder / '.aim'}: {fault}")
        finally:
            self._troubles += [f"{self._folder / '.aim'}: {reason}" for reason in reader.lost]
            reader.close()
            self._reader = None

    def read(self, run: ForeignRun, cursor: Any) -> Iterator[Piece]:
        had: dict[str, Any] = dict(cursor) if isinstance(cursor, dict) else {}
        since = had["since"] = dict(had.get("since", {}))
        self._cursors[run.key] = had
        if self._reader is None:
            return
        is_new = cursor is None
        for piece in self._reader.pieces(run.key, since):
            is_new = True
            yield piece
        last = max([run.created, *since.values()])
        ended = self._ended.get(run.key)
        if ended is not None and (is_new or had.get("ended") != ended):
            had["ended"] = ended
            yield End(time=float(ended), status="finished")
        elif ended is None and is_new and time.time() - last > SILENT_S:
            yield End(time=last, status="failed", error="Aim recorded no end: the process was killed or lost")

    def cursor(self, run: ForeignRun) -> Any:
        return self._cursors[run.key]

    def troubles(self) -> list[str]:
        told, self._troubles = self._troubles, []
        return told


def _foreign(run: dict[str, Any]) -> ForeignRun:
    attrs = dict(run["attrs"])
    system = attrs.pop("__system_params", None) or {}
    git = system.get("git_info") or {}
    commit = (git.get("commit") or {}).get("hash") if isinstance(git.get("commit"), dict) else None
    packages = system.get("packages")
    arguments = system.get("arguments")
    return ForeignRun(
        key=run["id"],
        name=mask_text(run["name"]),
        project=mask_text(run["experiment"]),
        created=run["created"],
        config=masked(flatten(attrs)),
        tags=[mask_text(tag) for tag in run["tags"]],
        notes=mask_text(run["description"]),
        more={
            "packages": {str(name): str(each) for name, each in packages.items()} if isinstance(packages, dict) else {},
            "command": [mask_text(str(part)) for part in arguments] if isinstance(arguments, list) else [],
            "git": GitState(commit=str(commit), branch=git.get("branch")) if commit else None,
        },
    )
