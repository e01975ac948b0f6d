"""The catalog: the runs of one or more stores, kept current by listing folders, and queried.

    catalogue = Catalogue(Path("stepscope-runs"))
    changes = catalogue.refresh()                       # what is new since the last time
    for entry in catalogue.entries("loss.min < 0.3", sort="config.lr"):
        print(entry.name, entry.status, entry.metrics["loss"].min)

docs/design/005-catalogue-and-index.md explains how a store of ten thousand runs is listed quickly.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.common import clocks
from stepscope.common.metric_direction import Goal
from stepscope.errors import NotFound
from stepscope.runs.catalogue.columns import RunColumn, default_columns, run_columns
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.catalogue.index import Index, RunIndex
from stepscope.runs.catalogue.ordering import grouped, ordered
from stepscope.runs.catalogue.resolve import choose
from stepscope.runs.catalogue.selection import RunPage, Selection, newest_goals, ranges_of
from stepscope.runs.catalogue.store_scan import StoreScan
from stepscope.runs.format.ids import is_run_id
from stepscope.runs.query.query import Field, Query, check_field, parse, parse_field

if TYPE_CHECKING:
    from stepscope.runs.read.folder import RunFolder

_OPEN_FOLDERS = 32
"""Number of runs that stay open with their parsed content."""
_PUBLISH_S = 1.0
"""Minimum seconds between partial results of a long first scan; the newest runs appear after a quarter of that."""
_COLD_FEW = 64
"""Up to this many runs, numbers are fetched per run; above it, for the whole store in one pass."""
_ANSWERS = 8
"""Number of cached answers: pages of one table repeat the same query."""
_PASSING = ("age", "duration")
"""Fields that change with time alone."""
_CREATED = parse_field("created")


@dataclass
class Changes:
    """The result of a refresh."""

    version: int
    """The catalog's version afterward; increases with every change."""
    changed: list[str] = field(default_factory=list)
    """Ids of new or changed runs, including status changes."""
    gone: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.changed or self.gone)


class Catalogue:
    """The runs of one or more stores. Thread-safe; close it when done."""

    def __init__(
        self,
        *stores: Path | str,
        index: RunIndex | None = None,
        clock: Callable[[], float] = clocks.time,
        few: float = math.inf,
    ) -> None:
        """A store is a folder of run folders, a folder of such folders, or one run folder. It may not exist yet.

        With more runs than `few`, a subclass may leave those that have ended to the index (`StoreScan.rest`).
        """
        self.stores = [Path(store) for store in stores]
        self.version = 0
        self.unread = 0
        """Runs that a long first scan has found but not read yet."""
        self._index: RunIndex = index if index is not None else Index()
        self._clock = clock
        self._lock = threading.RLock()
        self._refreshing = threading.RLock()  # acquired before _lock; held alone while files are read
        self._ready = threading.Event()
        self._scans = [StoreScan(store, self._index, few) for store in self.stores]
        self._entries: dict[str, RunEntry] = {}
        self._folders: OrderedDict[Path, RunFolder] = OrderedDict()
        self._newest: tuple[dict[str, RunEntry] | None, list[RunEntry]] = (None, [])
        self._answers: OrderedDict[tuple[object, ...], list[RunEntry]] = OrderedDict()
        self._columns: tuple[int, list[RunColumn]] = (-1, [])
        self._known: tuple[int, set[str]] = (-1, set())

    # -- refreshing ----------------------------------------------------------------------------------------------

    def refresh(
        self, progress: Callable[[int, int], None] | None = None, only: Collection[str] | None = None
    ) -> Changes:
        """Scan the stores again. `progress(done, total)` is called while many runs are read for the first time.

        With `only`, just these runs: whoever changed one need not wait for all others to be scanned.

        Queries keep working meanwhile: they see the previous state or, in a long first scan, the runs read so far.
        """
        with self._refreshing:
            before = self._entries
            published = clocks.monotonic() - (0.75 * _PUBLISH_S if not before else 0.0)

            def tell(done: int, total: int) -> None:
                nonlocal published
                if progress is not None:
                    progress(done, total)
                if clocks.monotonic() - published > _PUBLISH_S:
                    self._publish([() for _ in self._scans])
                    self.unread = total - done
                    self.version += 1
                    published = clocks.monotonic()

            now = self._clock()
            touched = [
                scan.refresh(now, tell) if only is None else scan.refresh_some(only, now) for scan in self._scans
            ]
            with self._lock:
                self.unread = 0
                changed = self._publish(touched) | (self._entries.keys() - before.keys())
                gone = before.keys() - self._entries.keys()
                for run_id in (changed | gone) & before.keys():
                    self._folders.pop(before[run_id].path, None)
                if changed or gone:
                    self.version += 1
                return Changes(self.version, sorted(changed), sorted(gone))

    def _publish(self, touched: Sequence[Collection[str]]) -> set[str]:
        """Publish the scan results; returns the ids of the runs in the touched folders."""
        entries: dict[str, RunEntry] = {}
        ids: set[str] = set()
        for scan, folders in zip(self._scans, touched, strict=True):
            for folder, entry in scan.entries:
                if entry.id not in entries:  # the same run in two stores counts once
                    entries[entry.id] = entry
                    if folder in folders:
                        ids.add(entry.id)
        with self._lock:
            if entries != self._entries:  # unchanged entries keep their order, so cached answers stay valid
                self._entries = entries
            self._ready.set()
        return ids

    @property
    def problems(self) -> dict[Path, str]:
        """Folders that look like runs and cannot be read, and why."""
        return {path: reason for scan in self._scans for path, reason in scan.problems.items()}

    def close(self) -> None:
        with self._lock:
            self._folders.clear()
            self._index.close()

    def __enter__(self) -> Catalogue:
        return self

    def __exit__(self, *fault: object) -> None:
        self.close()

    # -- querying ------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        self._wait()
        return len(self._entries)

    def entries(
        self, query: str | Query = "", sort: str = "created", descending: bool = True, group_by: str | None = None
    ) -> list[RunEntry]:
        """The matching runs, sorted: missing values and NaN last, and with `group_by` group by group."""
        asked = parse(query) if isinstance(query, str) else query
        by = parse_field(sort)
        group = parse_field(group_by) if group_by else None
        entries = self._all()
        key = (self.version, asked.text, by, descending, group)
        fields = [*asked.fields, by, *([group] if group else [])]
        lasting = not any(one.source == "run" and one.name in _PASSING for one in fields)
        with self._lock:
            known = self._answers.get(key) if lasting else None
        if known is None:
            known = self._answered(entries, asked, by, descending, group)
        if lasting:
            with self._lock:
                self._answers[key] = known
                while len(self._answers) > _ANSWERS:
                    self._answers.popitem(last=False)
        return list(known)

    def _answered(
        self, entries: list[RunEntry], asked: Query, by: Field, descending: bool, group: Field | None
    ) -> list[RunEntry]:
        now = self._clock()
        found = entries
        if asked.text.strip():
            if asked.fields:
                asked.check(self._known_names(entries))
            self.prefetch(entries, asked.fields)
            found = [entry for entry in entries if asked.matches(entry, now)]
        self.prefetch(found, [by, group] if group else [by])
        # Ties are newest first, which is the existing order.
        if by != _CREATED or not descending:
            found = ordered(found, lambda entry: entry.value(by, now), descending)
        if group is not None:
            return [entry for _, members in grouped(found, lambda entry: entry.value(group, now)) for entry in members]
        return found

    def selected(self, asked: Selection) -> list[RunEntry]:
        """All runs of a selection, in order."""
        found = self.entries(asked.query, asked.sort, asked.descending, asked.group_by)
        return [entry for entry in found if asked.admits(entry)]

    def page(self, asked: Selection, offset: int = 0, limit: int = 50) -> RunPage:
        """A page of a selection, and the number of runs in it."""
        found = self.selected(asked)
        return RunPage(found[offset : offset + limit], len(found))

    def finished_ranges(self, asked: Selection, fields: list[Field]) -> dict[Field, tuple[float, float]]:
        """The minimum and maximum finite number of fields over the finished runs of a selection."""
        found = self.selected(asked)
        self.prefetch(found, fields)
        return ranges_of(found, fields)

    def goals(self, asked: Selection, metrics: Collection[str]) -> dict[str, Goal]:
        """The goal of each metric, from the newest run of a selection that defines it."""
        return {name: goal for name, (_, goal) in newest_goals(self.selected(asked), metrics).items()}

    def stamp_of(self, entry: RunEntry) -> str:
        """What a run's folder looked like when it was read: the same for all processes, unlike its version."""
        return next((stamp for scan in self._scans if (stamp := scan.stamp_of(entry)) is not None), "")

    def every(self) -> list[RunEntry]:
        """All runs, the newest first."""
        return list(self._all())

    def each(self) -> Iterator[RunEntry]:
        """All runs in no order, for a walk over them: they need not be in memory at once."""
        return iter(self._all())

    def homes(self) -> set[Path]:
        """The folders that hold runs. Runs that are in the index only are in a store itself."""
        self._wait()
        return {entry.path.parent for entry in list(self._entries.values())} | set(self.stores)

    def running(self) -> list[RunEntry]:
        return [entry for entry in self._all() if entry.status == "running"]

    def count(self, projects: Collection[str] | None = None) -> int:
        """The number of runs in some projects; None for all."""
        return len(self) if projects is None else sum(entry.project in projects for entry in self._all())

    def check_field(self, text: str) -> None:
        """Reject a sort key or column that no run has, and suggest close names."""
        check_field(parse_field(text), self._known_names(self._all()), text)

    def entry(self, run_id: str) -> RunEntry:
        """The entry with this id, even if no scan has reached it; `NotFound` only if it is not on disk."""
        self._wait()
        found = self._entries.get(run_id) or self._not_seen_yet(run_id)
        if found is None:
            raise NotFound(
                f"there is no run {run_id!r} in {', '.join(map(str, self.stores))}; `stepscope runs` lists them"
            )
        return found

    def _not_seen_yet(self, run_id: str) -> RunEntry | None:
        """Read a run that was created since the last scan, or that a long scan has not reached.

        On a busy machine a scan takes seconds and the next one waits ten times as long; pages query in between.
        """
        if not is_run_id(run_id):
            return None
        found = next((entry for scan in self._scans if (entry := scan.read_now(run_id)) is not None), None)
        if found is None or found.id != run_id:
            return None
        with self._lock:
            known = self._entries.get(run_id)
            if known is None:
                self._entries = {**self._entries, run_id: found}
                self.version += 1
            return known or found

    def get(self, ref: str) -> RunFolder:
        """The opened run with this id or other reference (see `resolve.py`), as of the last refresh."""
        entry = self._entries.get(ref) or self._not_seen_yet(ref)
        if entry is None:
            entry = choose(ref, self._all())
        with self._lock:
            for scan in self._scans:
                going_on = scan.open_folder(entry)
                if going_on is not None:
                    return going_on
            return self._open(entry.path)

    def columns(self, query: str = "") -> list[RunColumn]:
        """The columns available for the matching runs."""
        if query.strip():
            return run_columns(self.entries(query))
        entries = self._all()
        version, columns = self._columns
        if version != self.version:
            columns = run_columns(entries)
            self._columns = (self.version, columns)
        return columns

    def table_columns(self, asked: Selection) -> tuple[list[RunColumn], list[str]]:
        """The columns of the runs of a selection, and the default ones."""
        entries = self.selected(asked)
        unlimited = asked.runs is None and asked.projects is None
        found = self.columns(asked.query) if unlimited else run_columns(entries)
        return found, default_columns(found, entries)

    def prefetch(self, entries: list[RunEntry], fields: list[Field]) -> None:
        """Prefetch metric numbers that are about to be read for many runs."""
        wanted = [one for one in fields if one.source in ("metric", "summary")]
        if not wanted or len(entries) <= _COLD_FEW:
            return
        for scan in self._scans:
            scan.fetch_numbers(wanted)

    def projects(self) -> list[str]:
        """The projects of the runs, by name."""
        return sorted({entry.project for entry in self._all()})

    # -- internals -----------------------------------------------------------------------------------------------

    def _wait(self) -> None:
        """Wait until there are results."""
        while not self._ready.is_set():  # no scan has run yet, or one is about to publish its first results
            if self._refreshing.acquire(timeout=0.05):
                try:
                    self.refresh()
                finally:
                    self._refreshing.release()

    def _all(self) -> list[RunEntry]:
        """All runs, newest first; ids alone do not order runs within a millisecond. Callers must not modify it."""
        self._wait()
        with self._lock:
            entries, newest = self._newest
            if entries is not self._entries:
                newest = sorted(self._entries.values(), key=lambda entry: (entry.head.created, entry.head.id))
                newest.reverse()
                self._newest = (self._entries, newest)
                self._answers.clear()
            return newest

    def _open(self, path: Path) -> RunFolder:
        """The run at a path, from the cache of open runs or opened now; the least recently used are closed."""
        from stepscope.runs.read.folder import open_run

        with self._lock:
            folder = self._folders.pop(path, None)
            if folder is None:
                folder = open_run(path)
                while len(self._folders) >= _OPEN_FOLDERS:
                    self._folders.popitem(last=False)
            self._folders[path] = folder
            return folder

    def _known_names(self, entries: list[RunEntry]) -> set[str]:
        version, known = self._known
        if version != self.version:
            names = {id(entry.metrics.names): entry.metrics.names for entry in entries}
            known = {name for group in names.values() for name in group}
            known.update({f"config.{key}" for entry in entries for key in entry.config})
            self._known = (self.version, known)
        return known
