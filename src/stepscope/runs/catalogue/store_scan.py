"""Repeated scans of one store: which runs changed, and their catalog entries."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from stepscope.errors import StepscopeError
from stepscope.files.decoding import MALFORMED
from stepscope.runs.catalogue.change_detection import folder_stamp, listing_stamp, may_settle
from stepscope.runs.catalogue.discover import Found, find_run_folder, find_run_folders
from stepscope.runs.catalogue.entry import Head, RunEntry
from stepscope.runs.catalogue.index import Row, RunIndex
from stepscope.runs.catalogue.metric_stats import MetricStats, Slot
from stepscope.runs.query.fields import Field

if TYPE_CHECKING:
    from stepscope.runs.catalogue.read_head import Reading
    from stepscope.runs.read.folder import RunFolder

log = logging.getLogger("stepscope.runs")

_BATCH = 200
"""Runs saved to the index together: a kill during the first scan loses at most these."""
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


class StoreScan:
    """The runs of one store, by their path relative to it."""

    def __init__(self, store: Path, index: RunIndex) -> None:
        self.store = store
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

    @property
    def problems(self) -> dict[Path, str]:
        """Folders that look like runs and cannot be read, and why."""
        return {self.store / folder: why for folder, (_stamp, why) in self._failed.items()}

    def refresh(self, now: float, progress: Callable[[int, int], None]) -> set[str]:
        """Scan again; returns the folders whose entry is new or changed. `progress(done, total)` is called for each."""
        if self._known is None:
            self._known = self._from_index()
        touched: set[str] = set()
        unread: list[Found] = []
        present: set[str] = set()
        try:
            listed = list(find_run_folders(self.store))
        except OSError as fault:  # too many open files, an unresponsive disk: keep the current state
            log.warning("cannot list the runs in %s: %s", self.store, fault)
            return set()
        for found in listed:
            present.add(found.folder)
            before = self._known.get(found.folder)
            if before is None or not self._is_same(before, found, now, touched):
                unread.append(found)
        unread.sort(key=lambda found: found.folder, reverse=True)  # newest first: ids begin with the time
        for done, found in enumerate(unread):
            progress(done, len(unread))
            if self._read(found, now):
                touched.add(found.folder)
        gone = (self._known.keys() | self._failed.keys()) - present
        for folder in gone:
            self._known.pop(folder, None)
            self._failed.pop(folder, None)
        self._save(gone)
        if len(touched) > _BATCH:
            self._fetched.clear()
        return touched

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
        known: dict[str, _Known] = {}
        for row in self._index.rows(self._key):
            try:
                head = _head_decoder.decode(row.head)
            except MALFORMED:
                continue  # written by a version with a different head
            # A process that could not be queried then may be reachable from here now.
            if head.status != "lost":
                known[row.folder] = _Known(row.stamp, self._entry(row.folder, head, row.names))
        return known

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
            known.entry.head = head
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
        before = self._known.get(found.folder)
        try:
            reading = read_run(path) if before is None else read_run(path, before.reading, before.entry.version + 1)
        except (StepscopeError, OSError) as fault:
            passing = isinstance(fault, OSError) and not isinstance(fault, StepscopeError)
            if passing and os.path.lexists(path):  # possibly readable a moment later: keep the old state and try again
                self._failed.setdefault(found.folder, ("", str(fault)))
                return False
            self._failed[found.folder] = (stamp, str(fault))
            self._known.pop(found.folder, None)
            return False
        self._failed.pop(found.folder, None)
        status = reading.head.status
        if status in _ENDED and may_settle(path, found.stat, now):
            stamp = folder_stamp(found.stat)
        entry = self._entry(found.folder, reading.head, reading.names)
        entry.metrics.fill(reading.stats)
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
