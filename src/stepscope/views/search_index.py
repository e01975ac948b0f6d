"""The search index: each run is reread only when it has changed.

The catalog's facts (name, tags, notes, config) of ten thousand runs are a list of lower-case texts. The rest (command,
findings, artifacts, console) needs the run's folder; it is read for the newest runs first, within a time limit.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from stepscope.errors import StepscopeError

if TYPE_CHECKING:
    from stepscope.runs.catalogue.entry import RunEntry
    from stepscope.runs.read.folder import RunFolder
    from stepscope.views.context import Context

CONSOLE_BYTES = 200_000
"""How much of each run's console is searched: its end, where errors are."""
MOST_DEEP = 500


class Shallow(NamedTuple):
    """A run's catalog entry in lower case; `rest` has one `key value` per line."""

    entry: RunEntry
    name: str
    tags: str
    notes: str
    rest: str


class Deep(NamedTuple):
    """The searchable content of a run's folder."""

    command: str
    error: str
    """The exception that ended it, in one line."""
    findings: list[tuple[str, str, str]]
    """Rule, message, place."""
    artifacts: list[tuple[str, int, str]]
    """Name, version, type."""
    console: list[str]


class SearchIndex:
    """Thread-safe; two threads that miss the same run read it twice, which is harmless."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._version = -1
        self._shallow: dict[str, Shallow] = {}
        self._order: list[Shallow] = []
        self._deep: dict[str, tuple[int, Deep]] = {}

    def shallow(self, ctx: Context) -> list[Shallow]:
        """Every run, newest first."""
        version = ctx.catalogue.version
        with self._lock:
            if version != self._version:
                self._renew(ctx.catalogue.every())
                self._version = version
            return self._order

    def _renew(self, entries: list[RunEntry]) -> None:
        before, self._shallow = self._shallow, {}
        for entry in entries:
            known = before.get(entry.id)
            fresh = known is not None and known.entry.version == entry.version and known.entry.head is entry.head
            self._shallow[entry.id] = known if known is not None and fresh else _shallow(entry)
        self._order = sorted(self._shallow.values(), key=lambda one: one.entry.id, reverse=True)

    def deep(self, ctx: Context, runs: list[Shallow], budget_s: float) -> Iterator[tuple[Shallow, Deep | None]]:
        """The contents of runs; None for those not read for lack of time."""
        until = time.monotonic() + budget_s
        for run in runs:
            entry = run.entry
            version, known = self._deep.get(entry.id, (-1, None))
            if known is None or version != entry.version:
                known = self._read(ctx, entry) if time.monotonic() < until else None
            yield run, known

    def _read(self, ctx: Context, entry: RunEntry) -> Deep:
        try:
            deep = _deep(ctx.runs.get(entry.id))
        except (StepscopeError, OSError):  # deleted or unreadable: nothing to find in it
            deep = Deep("", "", [], [], [])
        with self._lock:
            self._deep.pop(entry.id, None)
            self._deep[entry.id] = (entry.version, deep)
            while len(self._deep) > MOST_DEEP:
                self._deep.pop(next(iter(self._deep)))
        return deep


def index_of(ctx: Context) -> SearchIndex:
    """The index of a server, created on the first search."""
    if ctx.search is None:
        ctx.search = SearchIndex()
    return ctx.search


def _shallow(entry: RunEntry) -> Shallow:
    head = entry.head
    facts = [("host", head.host), ("user", head.user), ("branch", head.branch), ("commit", head.commit)]
    facts += [("group", head.group), ("status", head.status), ("project", head.project)]
    lines = [f"{key} {value}" for key, value in [*head.config.items(), *facts] if value not in (None, "")]
    return Shallow(entry, head.name.lower(), "\n".join(head.tags).lower(), head.notes.lower(), "\n".join(lines).lower())


def _deep(folder: RunFolder) -> Deep:
    findings = [
        (one.rule, one.message, f"{one.file}:{one.line}" if one.file and one.line else one.file or "")
        for one in folder.findings
    ]
    artifacts = [(one.name, one.version, one.type) for one in folder.artifacts]
    error = folder.standing.error or ""
    return Deep(" ".join(folder.meta.command), error, findings, artifacts, _console(folder))


def _console(folder: RunFolder) -> list[str]:
    """The last lines of the output, without overwritten progress bars."""
    pieces: list[str] = []
    size = 0
    for piece in reversed(folder.console()):
        if piece.rewrite:
            continue
        size += len(piece.text)
        if size > CONSOLE_BYTES:
            break
        pieces.append(piece.text)
    return [line for line in "".join(reversed(pieces)).splitlines() if line.strip()]
