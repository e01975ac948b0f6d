"""Repeated scans of one store: which runs changed, and their catalog entries."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from stepscope.common import clocks
from stepscope.errors import StepscopeError
from stepscope.files.decoding import MALFORMED
from stepscope.runs.catalogue.change_detection import folder_stamp, listing_stamp, may_settle
from stepscope.runs.catalogue.discover import Found, find_run_folder, find_run_folders
from stepscope.runs.catalogue.entry import Head, RunEntry
from stepscope.runs.catalogue.index import Row, RunIndex
from stepscope.runs.catalogue.metric_stats import MetricStats, Slot
from stepscope.runs.catalogue.run_counts import RunCounts
from stepscope.runs.query.fields import Field

if TYPE_CHECKING:
    from stepscope.runs.catalogue.read_head import Reading
    from stepscope.runs.read.folder import RunFolder

log = logging.getLogger("stepscope.runs")

_BATCH = 200
"""Runs saved to the index together: a kill during the first scan loses at most these."""
_RECOUNT_SHARE = 50
"""After counting all runs, which takes seconds for a million, rest fifty times as long."""
_ENDED = frozenset(("finished", "stopped", "preempted", "failed"))

_head_decoder = msgspec.msgpack.Decoder(Head)
_head_encoder = msgspec.msgpack.Encoder(enc_hook=str)


@dataclass(slots=True)
class _Known:
    """A run as last read."""

    stamp: str
    entry: RunEntry
    reading: Reading | None = None
    """Kept while the run is live, to update its status and read only what is new."""


def _may_rest(folder: str, known: _Known) -> bool:
    """Whether a run changes no more by itself and can be asked for by its folder's name."""
    return known.stamp.startswith("=") and known.reading is None and folder == known.entry.id


class StoreScan:
    """The runs of one store, by their path relative to it."""

    def __init__(self, store: Path, index: RunIndex, few: float = math.inf) -> None:
        """With more than `few` runs, `rest` leaves the facts of settled ones to the index."""
        self.store = store
        self.counts: RunCounts | None = None
        """Counts over all runs, since there are more than `few`."""
        self._few = few
        self._resting: dict[str, str] = {}
        """Settled runs whose facts are only in the index: their stamps by folder, which is their id."""
        self._left: set[str] = set()
        self._miscounted = False
        """Whether a run had to be taken from the counts and another process had changed it: all are counted again."""
        self._recount_at = 0.0
        self._key = os.path.realpath(store)
        self._index = index
        self._known: dict[str, _Known] | None = None
        self._failed: dict[str, tuple[str, str]] = {}
        self._names: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._places: dict[int, tuple[tuple[str, ...], dict[str, int]]] = {}
        """By the identity of a tuple in `_names`: the names and their positions. Hashing fifty names for each of ten
        thousand runs would take longer than all the rest."""
        self._fetched: set[tuple[str, str]] = set()
        self._unsaved: list[Row] = []

    @property
    def entries(self) -> list[tuple[str, RunEntry]]:
        """The folders and entries of all runs."""
        return [(folder, known.entry) for folder, known in (self._known or {}).items()]

    def __len__(self) -> int:
        return len(self._known or ()) + len(self._resting)

    def stamp_of(self, entry: RunEntry) -> str | None:
        """What the folder of a run looked like when it was read; None for a run of another store."""
        folder = entry.metrics.folder
        known = (self._known or {}).get(folder)
        return self._resting.get(folder) if known is None else known.stamp

    def rest(self) -> set[str]:
        """Forget the facts of settled runs, where there are many; the ids of those that are forgotten now.

        Everything must be in the index. What is about all of these runs has to be asked of it from then on.
        """
        if self._known is None or self._unsaved or len(self) <= self._few:
            return set()
        if self.counts is None:
            self.counts = RunCounts()
            for known in self._known.values():
                self.counts.add(known.entry.head, known.entry.metrics.names)
        settled = {folder: known.stamp for folder, known in self._known.items() if _may_rest(folder, known)}
        for folder in settled:
            del self._known[folder]
        self._resting |= settled
        return set(settled)

    def take_left(self) -> set[str]:
        """The ids of runs at rest that were deleted since the last call."""
        left, self._left = self._left, set()
        return left

    @property
    def problems(self) -> dict[Path, str]:
        """Folders that look like runs and cannot be read, and why."""
        return {self.store / folder: why for folder, (_stamp, why) in self._failed.items()}

    def refresh(self, now: float, progress: Callable[[int, int], None]) -> set[str]:
        """Scan again; returns the folders whose entry is new or changed. `progress(done, total)` is called for each."""
        if self._known is None:
            self._known = self._from_index()
            if self.counts is not None:
                progress(0, 0)  # listing very many folders takes a while, too
        elif self._miscounted and clocks.monotonic() > self._recount_at:
            self._recount()
        touched: set[str] = set()
        unread: list[Found] = []
        present: set[str] = set()
        try:
            for found in find_run_folders(self.store):
                present.add(found.folder)
                if not self._is_known(found, now, touched):
                    unread.append(found)
        except OSError as fault:  # too many open files, an unresponsive disk: keep the current state
            log.warning("cannot list the runs in %s: %s", self.store, fault)
            return touched
        unread.sort(key=lambda found: found.folder, reverse=True)  # newest first: ids begin with the time
        for done, found in enumerate(unread):
            progress(done, len(unread))
            if self._read(found, now):
                touched.add(found.folder)
        self._forget((self._known.keys() | self._failed.keys() | self._resting.keys()) - present)
        if len(touched) > _BATCH:
            self._fetched.clear()
        return touched

    def refresh_some(self, runs: Collection[str], now: float) -> set[str]:
        """The same for the runs with these ids: no other folder is looked at."""
        if self._known is None:
            return self.refresh(now, lambda done, total: None)
        touched: set[str] = set()
        gone = []
        for folder in self._folders_of(runs):
            path = os.path.join(self.store, folder)
            try:
                found = Found(path, folder, os.stat(path))
            except (FileNotFoundError, NotADirectoryError):
                gone.append(folder)
                continue
            except OSError as fault:
                log.warning("cannot look at %s: %s", path, fault)
                continue
            if not self._is_known(found, now, touched) and self._read(found, now):
                touched.add(folder)
        self._forget(gone)
        return touched

    def _folders_of(self, runs: Collection[str]) -> set[str]:
        """Where runs were when they were read; for others, where they are now."""
        assert self._known is not None
        found = {run: run for run in runs if run in self._known or run in self._resting}
        if len(found) < len(runs):
            ids = set(runs) - found.keys()
            found |= {one.entry.id: folder for folder, one in self._known.items() if one.entry.id in ids}
        new = [find_run_folder(self.store, run) for run in runs if run not in found]
        return {*found.values(), *(os.path.relpath(path, self.store) for path in new if path is not None)}

    def _is_known(self, found: Found, now: float, touched: set[str]) -> bool:
        """Whether a run is as it was when it was read."""
        assert self._known is not None
        stamp = self._resting.get(found.folder)
        if stamp is not None:
            return stamp == folder_stamp(found.stat)
        before = self._known.get(found.folder)
        return before is not None and self._is_same(before, found, now, touched)

    def _forget(self, gone: Iterable[str]) -> None:
        assert self._known is not None
        gone = list(gone)
        self._miscounted |= len(gone) > _BATCH
        for folder in gone:
            if len(gone) <= _BATCH:
                self._count(self._entry_of(folder), None)
            self._known.pop(folder, None)
            self._failed.pop(folder, None)
            if self._resting.pop(folder, None) is not None:
                self._left.add(folder)
        self._save(gone)

    def read_now(self, run_id: str) -> RunEntry | None:
        """A run that no scan has read yet, from its folder; None if there is none. Thread-safe."""
        from stepscope.runs.catalogue.read_head import read_run

        try:
            path = find_run_folder(self.store, run_id)
            reading = read_run(path) if path is not None else None
        except (StepscopeError, OSError):
            return None
        if path is None or reading is None:
            return None
        folder = os.path.relpath(path, self.store)
        entry = self._entry(folder, reading.head, reading.names)
        entry.metrics.fill(reading.stats)
        return entry

    def fetch_numbers(self, fields: Iterable[Field]) -> None:
        """Read metric numbers for all runs in one pass; only the requested ones are cached."""
        wanted = {(field.name, field.stat or "last") for field in fields}
        wanted |= {(f"{name}.{stat}", "last") for name, stat in wanted}
        wanted -= self._fetched
        known = self._known or {}
        if not wanted:
            return

        slots: dict[int, list[Slot]] = {}  # by the identity of the names, which runs share

        def keep(folder: str, data: bytes) -> None:
            found = known.get(folder)
            if found is None:
                return
            metrics = found.entry.metrics
            places = slots.get(id(metrics.names))
            if places is None:
                places = slots[id(metrics.names)] = metrics.slots(wanted)
            metrics.keep(data, places)

        self._index.visit_stats(self._key, keep)
        self._fetched |= wanted

    def open_folder(self, entry: RunEntry) -> RunFolder | None:
        """The live run of an entry, if it is open here."""
        known = (self._known or {}).get(entry.metrics.folder)
        return known.reading.folder if known is not None and known.entry is entry and known.reading else None

    # -- internals -----------------------------------------------------------------------------------------------

    def _from_index(self) -> dict[str, _Known]:
        known = self._known = {}
        for row in self._index.rows(self._key):
            entry = self._entry_from(row)
            # A process that could not be queried then may be reachable from here now.
            if entry is None or entry.head.status == "lost":
                continue
            one = _Known(row.stamp, entry)
            if self.counts is None:
                known[row.folder] = one
                if len(known) > self._few:
                    self.rest()
                continue
            self.counts.add(entry.head, entry.metrics.names)
            if _may_rest(row.folder, one):
                self._resting[row.folder] = row.stamp
            else:
                known[row.folder] = one
        return known

    def _entry_from(self, row: Row) -> RunEntry | None:
        try:
            return self._entry(row.folder, _head_decoder.decode(row.head), row.names)
        except MALFORMED:
            return None  # written by a version with a different head

    def _entry_of(self, folder: str) -> RunEntry | None:
        """A run as it was last read, if it was."""
        known = (self._known or {}).get(folder)
        if known is not None:
            return known.entry
        if folder not in self._resting:
            return None
        row = self._index.row(self._key, folder)
        self._miscounted |= row is None or row.stamp != self._resting[folder]
        return None if row is None else self._entry_from(row)

    def _recount(self) -> None:
        assert self._known is not None
        began, counts = clocks.monotonic(), RunCounts()
        for known in self._known.values():
            counts.add(known.entry.head, known.entry.metrics.names)
        for row in self._index.rows(self._key):
            entry = self._entry_from(row) if row.folder in self._resting else None
            if entry is not None:
                counts.add(entry.head, entry.metrics.names)
        self.counts, self._miscounted = counts, False
        self._recount_at = clocks.monotonic() + _RECOUNT_SHARE * (clocks.monotonic() - began)

    def _count(self, before: RunEntry | None, after: RunEntry | None) -> None:
        if self.counts is None:
            return
        if before is not None:
            self.counts.remove(before.head, before.metrics.names)
        if after is not None:
            self.counts.add(after.head, after.metrics.names)

    def _is_same(self, known: _Known, found: Found, now: float, touched: set[str]) -> bool:
        """Whether a run is unchanged since it was read; time-dependent facts are updated."""
        if known.stamp == folder_stamp(found.stat):
            return True
        if known.stamp.startswith("=") or known.stamp != listing_stamp(Path(found.path)):
            return False
        if known.reading is not None:
            head = known.reading.again()
            if head.status != known.entry.status:
                touched.add(found.folder)
            before = RunEntry("", known.entry.head, known.entry.metrics)
            known.entry.head = head
            self._count(before, known.entry)
            if head.status != "running":
                known.reading = None
                self._keep(found.folder, known)
        elif known.entry.status in _ENDED and may_settle(Path(found.path), found.stat, now):
            known.stamp = folder_stamp(found.stat)
            self._keep(found.folder, known)
        return True

    def _read(self, found: Found, now: float) -> bool:
        """Read a run, or what is new in it; False if it cannot be read or is not a run (yet)."""
        from stepscope.runs.catalogue.read_head import (
            read_run,  # imports numpy, which scanning a known store does not need
        )

        assert self._known is not None
        path = Path(found.path)
        stamp = listing_stamp(path)  # before reading: later changes are seen next time
        if self._failed.get(found.folder, ("", ""))[0] == stamp:
            return False
        known, before = self._known.get(found.folder), self._entry_of(found.folder)
        try:
            reading = (
                read_run(path)
                if before is None
                else read_run(path, None if known is None else known.reading, before.version + 1)
            )
        except (StepscopeError, OSError) as fault:
            passing = isinstance(fault, OSError) and not isinstance(fault, StepscopeError)
            if passing and os.path.lexists(path):  # possibly readable a moment later: keep the old state and try again
                self._failed.setdefault(found.folder, ("", str(fault)))
                return False
            self._failed[found.folder] = (stamp, str(fault))
            self._count(before, None)
            self._known.pop(found.folder, None)
            if self._resting.pop(found.folder, None) is not None:
                self._left.add(found.folder)
            return False
        self._failed.pop(found.folder, None)
        status = reading.head.status
        if status in _ENDED and may_settle(path, found.stat, now):
            stamp = folder_stamp(found.stat)
        entry = self._entry(found.folder, reading.head, reading.names)
        entry.metrics.fill(reading.stats)
        self._count(before, entry)
        self._resting.pop(found.folder, None)
        known = self._known[found.folder] = _Known(stamp, entry, reading if status == "running" else None)
        if status != "running":
            self._keep(found.folder, known)
        return True

    def _entry(self, folder: str, head: Head, names: tuple[str, ...]) -> RunEntry:
        shared = self._places.get(id(names))
        if shared is None:
            names = self._names.setdefault(names, names)
            shared = self._places.get(id(names))
            if shared is None:
                shared = self._places[id(names)] = (names, {name: at for at, name in enumerate(names)})
        path = os.path.join(self.store, folder) if folder != "." else str(self.store)
        return RunEntry(path, head, MetricStats(*shared, folder, self._stats))

    def _stats(self, folder: str) -> bytes:
        """The numbers of one run: from the index, else from the run itself."""
        data = self._index.stats(self._key, folder)
        if data is not None:
            return data
        from stepscope.runs.catalogue.read_head import read_run

        try:
            return read_run(self.store / folder).stats
        except (StepscopeError, OSError):
            return b""  # deleted meanwhile: its metrics have no values

    def _keep(self, folder: str, known: _Known) -> None:
        """Save a run to the index; its numbers then need not stay in memory."""
        metrics = known.entry.metrics
        self._unsaved.append(
            Row(folder, known.stamp, _head_encoder.encode(known.entry.head), metrics.names, metrics.take())
        )
        if len(self._unsaved) >= _BATCH:
            self._save()

    def _save(self, gone: Iterable[str] = ()) -> None:
        rows, self._unsaved = self._unsaved, []
        self._index.save(self._key, rows, gone)
