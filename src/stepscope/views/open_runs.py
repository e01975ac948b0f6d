"""Runs that stay open between requests, so that redrawing a chart costs only what is new."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.runs.format.layout import COMPACT, log_files
from stepscope.runs.read.folder import RunFolder, open_run

if TYPE_CHECKING:
    from pathlib import Path

    from stepscope.runs.catalogue.catalogue import Catalogue
    from stepscope.runs.catalogue.entry import RunEntry

MOST_RUNS = 512
MOST_BYTES = 1 << 30
"""Maximum size of the log files of open runs: roughly their memory use."""
FRESH_S = 0.5
"""A live run is refreshed at most this often, however many panels request it."""


@dataclass
class _Open:
    folder: RunFolder
    size: int
    version: int
    read: float


class OpenRuns:
    """Opens runs by id and caches the most recently used. Thread-safe."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._lock = threading.Lock()
        self._open: OrderedDict[str, _Open] = OrderedDict()

    def __len__(self) -> int:
        return len(self._open)

    def get(self, run_id: str) -> RunFolder:
        """The run with this id, up to date; `NotFound` if the catalog has none."""
        entry = self._catalogue.entry(run_id)
        with self._lock:
            known = self._open.get(run_id)
            if known is not None and known.folder.path == entry.path:
                self._open.move_to_end(run_id)
            else:
                known = None
        if known is None:
            return self._opened(entry)
        now = time.monotonic()
        # A new version was announced to the page: answering with older points would omit the last ones.
        if known.version != entry.version or (entry.status == "running" and now - known.read > FRESH_S):
            known.version, known.read = entry.version, now
            if known.folder.refresh():
                known.size = _size(entry.path)
        return known.folder

    def _opened(self, entry: RunEntry) -> RunFolder:
        folder = open_run(entry.path)
        made = _Open(folder, _size(entry.path), entry.version, time.monotonic())
        with self._lock:
            self._open[entry.id] = made
            while len(self._open) > 1 and (
                len(self._open) > MOST_RUNS or sum(one.size for one in self._open.values()) > MOST_BYTES
            ):
                self._open.popitem(last=False)
        return folder


def _size(path: Path) -> int:
    total = 0
    for file in (*log_files(path), *log_files(path / COMPACT)):
        try:
            total += file.stat().st_size
        except OSError:  # compacted meanwhile
            continue
    return total
