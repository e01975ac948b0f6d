"""The runs of a TensorBoard folder, read incrementally."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from stepscope.eventfiles.events import START, Metadata
from stepscope.eventfiles.reader import EventFile, News, first_events
from stepscope.eventfiles.scalars import Column
from stepscope.files.listing import refused_links
from stepscope.importers.foreign import Columns, ForeignRun, Piece, Restart
from stepscope.importers.tensorboard.folders import LogFolder, Part, Peek, find_folders
from stepscope.importers.tensorboard.projector import embeddings
from stepscope.importers.tensorboard.things import Things
from stepscope.importers.tensorboard.traces import traces

_STILL_GROWING_S = 60.0
_LATEST = 2.0**33
"""The year 2242: later times are invalid."""


class TensorBoardSource:
    """A TensorBoard folder, or one event file. `name` is a prefix for the names of its runs."""

    kind = "tensorboard"

    def __init__(self, path: Path, name: str = "") -> None:
        self.path = path
        self.name = name
        self._folders: dict[str, LogFolder] = {}
        self._peeked: dict[Path, Peek] = {}
        self._created: dict[str, float] = {}
        self._cursors: dict[str, dict[str, Any]] = {}
        self._files: dict[Path, EventFile] = {}
        self._things: dict[str, Things] = {}
        self._told: set[str] = set()
        self._troubles: list[str] = []

    def runs(self) -> list[ForeignRun]:
        found = []
        if not self._folders and self.path.is_dir():
            for link in refused_links(self.path):
                self._say(f"{link} leads elsewhere and was skipped; import its target folder separately")
        self._folders = {}
        for folder in find_folders(self.path, self._peeked):
            self._folders[folder.key] = folder
            where = self.path.resolve()
            own = where.name if folder.key == "." else folder.key
            name = "/".join(part for part in (self.name, "" if self.name and folder.key == "." else own) if part)
            above = Path(folder.key).parent.as_posix()
            found.append(
                ForeignRun(
                    key=folder.key,
                    name=name,
                    project=self.name or (where.parent.name if where.is_file() else where.name) or "tensorboard",
                    created=self._begun(folder),
                    group=above if above not in (".", "") else None,
                )
            )
        return found

    def _begun(self, folder: LogFolder) -> float:
        if folder.key not in self._created:
            path = folder.parts[0].path
            try:
                first = next((event.time for event in first_events(path) if 0 < event.time < _LATEST), 0.0)
                moment = first or path.stat().st_mtime
            except OSError:
                return time.time()
            self._created[folder.key] = moment
        return self._created[folder.key]

    def read(self, run: ForeignRun, cursor: Any) -> Iterator[Piece]:
        folder = self._folders[run.key]
        state = {"files": {}, "any": False, "embeddings": {}, **(cursor or {})}
        state["files"] = dict(state["files"])
        self._cursors[run.key] = state
        things = self._things.setdefault(run.key, Things())
        for part in folder.parts:
            yield from self._read_part(part, state, things)
        yield from things.rest()
        yield from embeddings(folder.path, state, run.created)
        yield from traces(folder.path, folder.traces, state, self._troubles)
        self._troubles.extend(things.troubles())

    def _read_part(self, part: Part, state: dict[str, Any], things: Things) -> Iterator[Piece]:
        file = self._file(part, int(state["files"].get(part.key, 0)), things.plugins)
        try:
            while (news := file.read()) is not None:
                for piece in _pieces(news, part, state, things):
                    state["any"] = True
                    yield piece
                state["files"][part.key] = file.offset
        except OSError as fault:  # a deleted or unreadable file: the others are still read
            self._say(f"{part.path}: {fault.strerror or fault}")
        self._troubles.extend(file.troubles())
        left = file.records.left
        if left > 0 and self._is_old(part.path):
            self._say(f"{part.path}: the last {left:,} bytes are an incomplete record; everything before them was read")

    def _file(self, part: Part, offset: int, plugins: dict[str, Metadata]) -> EventFile:
        known = self._files.get(part.path)
        if known is None or known.offset != offset:
            known = self._files[part.path] = EventFile(part.path, offset, plugins)
        return known

    def _is_old(self, path: Path) -> bool:
        try:
            return time.time() - path.stat().st_mtime > _STILL_GROWING_S
        except OSError:
            return False

    def _say(self, what: str) -> None:
        if what not in self._told:
            self._told.add(what)
            self._troubles.append(what)

    def cursor(self, run: ForeignRun) -> Any:
        return self._cursors[run.key]

    def troubles(self) -> list[str]:
        told, self._troubles = self._troubles, []
        return told


def _pieces(news: News, part: Part, state: dict[str, Any], things: Things) -> Iterator[Piece]:
    """The content of one piece of a file. A restart separates the points before it from those after it."""
    starts = [(place, event) for place, event in news.events if event.session == START]
    edges = [*(place for place, _ in starts), news.count]
    before = -1
    for number, edge in enumerate(edges):
        yield from _columns(news.columns, before, edge, part)
        for place, event in news.events:
            if before < place < edge or (place == edge and event.session != START):
                for thing in things.of(event):
                    state["any"] = True
                    yield thing
        if number < len(starts):
            event = starts[number][1]
            if state["any"]:
                yield Restart(step=event.step, time=event.time)
        before = edge


def _columns(columns: list[Column], before: int, edge: int, part: Part) -> Iterator[Columns]:
    """The points of each tag between two records, in writing order."""
    by_tag: dict[str, list[Column]] = {}
    for column in columns:
        by_tag.setdefault(column.tag, []).append(column)
    for tag, parts in by_tag.items():
        order = np.concatenate([one.order for one in parts])
        inside = (order > before) & (order < edge)
        if not inside.any():
            continue
        chosen = np.flatnonzero(inside)
        chosen = chosen[np.argsort(order[chosen], kind="stable")]
        steps, times, values = (
            np.concatenate([getattr(one, name) for one in parts])[chosen] for name in ("steps", "times", "values")
        )
        name = part.name if part.name and tag == part.tag else tag
        yield Columns(name or "unnamed", steps, times, values)
