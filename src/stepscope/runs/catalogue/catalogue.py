"""The catalogue: the runs of some stores, kept up to date by listing, and asked with queries.

    catalogue = Catalogue(Path("stepscope-runs"))
    changes = catalogue.refresh()                       # what is new since the last time
    for entry in catalogue.entries("loss.min < 0.3", sort="config.lr"):
        print(entry.name, entry.status, entry.metrics["loss"].min)

docs/design/005-catalogue-and-index.md says how a store of ten thousand runs is listed at once.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.common.metric_direction import Goal
from stepscope.errors import NotFound
from stepscope.runs.catalogue.columns import RunColumn, run_columns
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

__all__ = ["Catalogue", "Changes"]

_OPEN_FOLDERS = 32
"""How many runs stay open, with what was read of them, for the next time they are asked for."""
_PUBLISH_S = 1.0
"""How often the runs read so far are shown during a long first look; the newest ones, read first, after a quarter."""
_COLD_FEW = 64
"""Up to this many runs' numbers are fetched one by one; beyond, those of the whole store in one pass."""
_ANSWERS = 8
"""How many answers are kept until something changes: pages of one table ask the same again and again."""
_PASSING = ("age", "duration")
"""Fields that change by themselves."""
_CREATED = parse_field("created")


@dataclass
class Changes:
    """What a refresh found."""

    version: int
    """The catalogue's version after it; it grows with every change."""
    changed: list[str] = field(default_factory=list)
    """Ids of runs that are new or different, a changed status included."""
    gone: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.changed or self.gone)


class Catalogue:
    """The runs of one or more stores. Can be used from several threads; close it when done."""

    def __init__(
        self, *stores: Path | str, index: RunIndex | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        """A store is a folder of run folders, a folder of such folders, or one run folder. It may not exist yet."""
        self.stores = [Path(store) for store in stores]
        self.version = 0
        self.unread = 0
        """Runs that a long first look has found and not read yet."""
        self._index: RunIndex = index if index is not None else Index()
        self._clock = clock
        self._lock = threading.RLock()
        self._refreshing = threading.RLock()  # taken before _lock, and alone while files are read
        self._ready = threading.Event()
        self._scans = [StoreScan(store, self._index) for store in self.stores]
        self._entries: dict[str, RunEntry] = {}
        self._folders: OrderedDict[Path, RunFolder] = OrderedDict()
        self._newest: tuple[dict[str, RunEntry] | None, list[RunEntry]] = (None, [])
        self._answers: OrderedDict[tuple[object, ...], list[RunEntry]] = OrderedDict()
        self._columns: tuple[int, list[RunColumn]] = (-1, [])
        self._known: tuple[int, set[str]] = (-1, set())

    # -- keeping up ---------------------------------------------------------------------------------------------

    def refresh(self, progress: Callable[[int, int], None] | None = None) -> Changes:
        """Look at the stores again. `progress(done, total)` is told while many runs are read for the first time.

        Others may go on asking meanwhile: they see what was there before, and in a long first look what is read so far.
        """
        with self._refreshing:
            before = self._entries
            published = time.monotonic() - (0.75 * _PUBLISH_S if not before else 0.0)

            def tell(done: int, total: int) -> None:
                nonlocal published
                if progress is not None:
                    progress(done, total)
                if time.monotonic() - published > _PUBLISH_S:
                    self._publish([() for _ in self._scans])
                    self.unread = total - done
                    self.version += 1
                    published = time.monotonic()

            touched = [scan.refresh(self._clock(), tell) for scan in self._scans]
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
        """Show what the scans know; returns the ids of the runs in the touched folders."""
        entries: dict[str, RunEntry] = {}
        ids: set[str] = set()
        for scan, folders in zip(self._scans, touched, strict=True):
            for folder, entry in scan.entries:
                if entry.id not in entries:  # the same run in two places is one run
                    entries[entry.id] = entry
                    if folder in folders:
                        ids.add(entry.id)
        with self._lock:
            if entries != self._entries:  # the same entries stay in order, and what was answered with them holds
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

    # -- asking -------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        self._wait()
        return len(self._entries)

    def entries(
        self, query: str | Query = "", sort: str = "created", descending: bool = True, group_by: str | None = None
    ) -> list[RunEntry]:
        """The runs that match, in order: missing values and NaN last, and with `group_by` one group after the other."""
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
        # Runs that are equal otherwise come newest first, as they stand already.
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
        """A window of a selection, and how many runs there are in it."""
        found = self.selected(asked)
        return RunPage(found[offset : offset + limit], len(found))

    def finished_ranges(self, asked: Selection, fields: list[Field]) -> dict[Field, tuple[float, float]]:
        """The least and the greatest finite number of fields over the finished runs of a selection."""
        found = self.selected(asked)
        self.prefetch(found, fields)
        return ranges_of(found, fields)

    def goals(self, asked: Selection, metrics: Collection[str]) -> dict[str, Goal]:
        """Which way metrics are good, as the newest run of a selection that says so has it."""
        return {name: goal for name, (_, goal) in newest_goals(self.selected(asked), metrics).items()}

    def every(self) -> list[RunEntry]:
        """All runs, the newest first."""
        return list(self._all())

    def check_field(self, text: str) -> None:
        """Refuse a sort key or column that no run has, with what was perhaps meant."""
        check_field(parse_field(text), self._known_names(self._all()), text)

    def entry(self, run_id: str) -> RunEntry:
        """The entry with this id, also of a run that no look has come to yet; `NotFound` only if the disk has none."""
        self._wait()
        found = self._entries.get(run_id) or self._not_seen_yet(run_id)
        if found is None:
            raise NotFound(f"there is no run {run_id!r} in {', '.join(map(str, self.stores))}")
        return found

    def _not_seen_yet(self, run_id: str) -> RunEntry | None:
        """A run that was made since the last look, or that a long look has not reached: read by itself, at once.

        On a busy machine a look takes seconds and the next one waits ten times as long; pages ask in between.
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
        """The opened run with this id (or another way to name it, see `resolve.py`), as of the last refresh."""
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
        """What a table of the matching runs can show."""
        if query.strip():
            return run_columns(self.entries(query))
        entries = self._all()
        version, columns = self._columns
        if version != self.version:
            columns = run_columns(entries)
            self._columns = (self.version, columns)
        return columns

    def prefetch(self, entries: list[RunEntry], fields: list[Field]) -> None:
        """Have the numbers of metrics that are about to be asked of many runs."""
        wanted = [one for one in fields if one.source in ("metric", "summary")]
        if not wanted or len(entries) <= _COLD_FEW:
            return
        for scan in self._scans:
            scan.fetch_numbers(wanted)

    def projects(self) -> list[str]:
        """The projects of the runs, by name."""
        return sorted({entry.project for entry in self._all()})

    # -- inside -------------------------------------------------------------------------------------------------

    def _wait(self) -> None:
        """Until there is something to answer with."""
        while not self._ready.is_set():  # nobody has looked yet, or somebody is about to have the first results
            if self._refreshing.acquire(timeout=0.05):
                try:
                    self.refresh()
                finally:
                    self._refreshing.release()

    def _all(self) -> list[RunEntry]:
        """All runs, the newest first; ids alone tell no order within a millisecond. Not to be changed by who asks."""
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
        """The run at a path, opened now or before; the least used ones are let go."""
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
