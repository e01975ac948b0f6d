"""What could not be written yet: bounded, in order, dropping the oldest values first.

Events, which are few and describe the run, have a separate space, so that a flood of points cannot displace
them.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.runs.write.keyset import Keyset

LIMIT_BYTES = 32 << 20
PRECIOUS_BYTES = 4 << 20
PATIENCE_S = 0.25
"""Maximum wait for a lock: its holder may be the very frame that a signal handler interrupted."""


class Row:
    """One call of `Keyset.write`, packed except for its time, which depends on its segment."""

    __slots__ = ("at", "count", "keyset", "packed", "size")

    def __init__(self, keyset: Keyset, packed: bytes, at: float) -> None:
        self.keyset = keyset
        self.packed = packed
        self.at = at
        self.count = len(keyset.names)
        self.size = 240 + len(packed)  # approximate memory use


class Note:
    """Any other frame; `data` are bytes that must be stored under their hash before it."""

    __slots__ = ("at", "count", "data", "digest", "kind", "payload", "precious", "size")

    def __init__(
        self,
        kind: int,
        payload: bytes,
        at: float,
        *,
        count: int = 0,
        precious: bool = False,
        data: bytes | None = None,
        digest: bytes = b"",
    ) -> None:
        self.kind = kind
        self.payload = payload
        self.at = at
        self.count = count
        self.precious = precious
        self.data = data
        self.digest = digest
        self.size = 240 + len(payload) + len(data or b"")


Entry = Row | Note


class Backlog:
    def __init__(self, limit: int = LIMIT_BYTES, precious_limit: int = PRECIOUS_BYTES) -> None:
        self.bytes = 0
        self.lost = 0
        """Number of values dropped so far."""
        self._limit = limit
        self._precious_limit = precious_limit
        self._precious_bytes = 0
        self._rows: deque[Entry] = deque()
        self._precious: deque[Entry] = deque()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._rows) + len(self._precious)

    def push(self, entry: Entry) -> None:
        """Queue `entry`; the oldest are dropped if there is no room."""
        held = self._lock.acquire(timeout=PATIENCE_S)
        try:
            if isinstance(entry, Note) and entry.precious and self._precious_bytes + entry.size <= self._precious_limit:
                self._precious.append(entry)
                self._precious_bytes += entry.size
                return
            if entry.size > self._limit // 2:  # it alone would displace nearly everything else
                self.lost += entry.count
                return
            self._rows.append(entry)
            self.bytes += entry.size
            while self.bytes > self._limit and self._rows:
                oldest = self._rows.popleft()
                self.bytes -= oldest.size
                self.lost += oldest.count
        finally:
            if held:
                self._lock.release()

    def take(self, size: int) -> list[Entry]:
        """Take the next entries, events first, of about `size` bytes, to write or to `put_back`."""
        taken: list[Entry] = []
        held = self._lock.acquire(timeout=PATIENCE_S)
        try:
            while self._precious and size > 0:
                entry = self._precious.popleft()
                self._precious_bytes -= entry.size
                size -= entry.size
                taken.append(entry)
            while self._rows and size > 0:
                entry = self._rows.popleft()
                self.bytes -= entry.size
                size -= entry.size
                taken.append(entry)
        finally:
            if held:
                self._lock.release()
        return taken

    def put_back(self, entries: Sequence[Entry]) -> None:
        """Return what could not be written, in its old order."""
        held = self._lock.acquire(timeout=PATIENCE_S)
        try:
            for entry in reversed(entries):
                if isinstance(entry, Note) and entry.precious:
                    self._precious.appendleft(entry)
                    self._precious_bytes += entry.size
                else:
                    self._rows.appendleft(entry)
                    self.bytes += entry.size
        finally:
            if held:
                self._lock.release()

    def give_up(self) -> int:
        """Drop everything; returns the number of values."""
        count = sum(entry.count for entry in (*self._precious, *self._rows))
        self.lost += count
        self._precious.clear()
        self._rows.clear()
        self.bytes = self._precious_bytes = 0
        return count
