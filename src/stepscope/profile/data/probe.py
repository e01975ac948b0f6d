"""The clock beside a data pipeline, one in each process: what it did when, within a budget.

Timing every sample of a fast dataset would cost more than the dataset. So what is written down is paid from an
allowance, a small part of the time that has passed; batches it does not pay for go by untimed and are counted. Costs
are CPU time of the thread, and the allowance grows with the clock: on a busy machine nothing less is looked at.
"""

from __future__ import annotations

import os
import struct
import threading
from typing import Any, BinaryIO
from weakref import WeakKeyDictionary

import msgspec

from stepscope import fence
from stepscope.common import clocks
from stepscope.events import on_fork
from stepscope.files.opening import read_file

MAIN = -1
"""The number of the main process among workers."""
_ALLOWANCE = 0.009
_GRACE_NS = 12_000_000
"""What may be spent before any time has passed: the first batches are timed in detail."""
_PASS_NS = 1_000
"""What it costs to let a batch go by."""
_MOST_CHARGE_NS = 100_000
_DETAIL_NS = 5_000
"""The price of an event inside a batch. More than it costs, to keep them to some two thousand a second, which tell as
much as all of them would; and only part of the allowance goes into them, so that batches themselves are all timed."""
_DETAIL_PART = 0.8
_FLUSH_NS = 100_000_000
_MOST_EVENTS = 100_000
_LARGEST = 1 << 30
_LENGTH = struct.Struct("<I")


class Probe:
    """Notes spans of this process. A row is (name, place, start, duration, thread, batch, loader, detail, ready)."""

    def __init__(self, path: str, worker: int, loader: int = 0) -> None:
        self.worker = worker
        self.loader = loader
        self.batch = -1
        self.pid = os.getpid()
        self.untimed = 0
        """Batches that were not timed in detail."""
        self.spent_ns = 0
        self.events = 0
        self.path = path
        self._rows: list[tuple[Any, ...]] = []
        self._file: BinaryIO | None = None
        self._began = self._flushed = clocks.perf_counter_ns()
        self._to_unix = clocks.time_ns() - clocks.perf_counter_ns()
        self._lock = threading.Lock()
        self._threads: dict[int, int] = {}
        self.stages: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        """What is known of datasets: looked for once, not in every pass."""
        self._over = False

    # -- the budget -----------------------------------------------------------------------------------------------

    def can_note(self, clock: int) -> bool:
        """Whether there is something left of the allowance, at this reading of the clock."""
        if self.spent_ns <= _GRACE_NS + _ALLOWANCE * (clock - self._began) and not self._over:
            return self.events < _MOST_EVENTS
        self.spent_ns += _PASS_NS
        return False

    def pay_details(self, events: int) -> bool:
        """Take the price of this many events inside a batch from the allowance, if it is there."""
        price = events * _DETAIL_NS
        earned = _GRACE_NS + _ALLOWANCE * (clocks.perf_counter_ns() - self._began)
        if self.events + events > _MOST_EVENTS or self.spent_ns + price > earned * _DETAIL_PART:
            self.untimed += 1
            return False
        self.spent_ns += price
        return True

    def charge(self, nanoseconds: int) -> None:
        """What noting one batch has taken, in CPU time; an import in between is not its doing."""
        self.spent_ns += min(nanoseconds, _MOST_CHARGE_NS)

    # -- noting ---------------------------------------------------------------------------------------------------

    def note(
        self, name: str, start: int, end: int, *, place: str = "", batch: int | None = None, loader: int | None = None,
        detail: int = 0, ready: int = -1,
    ) -> None:  # fmt: skip
        """One span, by the readings of `perf_counter_ns` at its beginning and end."""
        self._rows.append((
            name, place, start + self._to_unix, end - start, self._thread(),
            self.batch if batch is None else batch, self.loader if loader is None else loader, detail, ready,
        ))  # fmt: skip
        self.events += 1

    def _thread(self) -> int:
        """As the system numbers it, which is how torch's traces do."""
        own = threading.get_ident()
        known = self._threads.get(own)
        if known is None:
            known = self._threads[own] = threading.get_native_id()
        return known

    @fence.fenced("writing times of the data pipeline")
    def flush(self, *, now: bool = False) -> None:
        """Write what has gathered, if it is time: a worker may be ended at any moment without a word."""
        clock = clocks.perf_counter_ns()
        if not self._rows or self._over or not (now or clock - self._flushed > _FLUSH_NS):
            return
        with self._lock:
            rows, self._rows = self._rows, []
            self._flushed = clock
            if not self._is_wanted():
                self._over = True
                return
            assert self._file is not None
            frame = msgspec.msgpack.encode({"worker": self.worker, "pid": self.pid, "rows": rows})
            self._file.write(_LENGTH.pack(len(frame)) + frame)

    def _is_wanted(self) -> bool:
        """Whether the collector still reads; it takes its folder away at the end, and workers may live on."""
        if self._file is not None:
            return os.path.exists(self.path)
        if not os.path.isdir(os.path.dirname(self.path)):
            return False
        self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115
        return True

    def close(self) -> None:
        """Write the rest."""
        self.flush(now=True)
        self._over = True
        if self._file is not None:
            self._file.close()
            self._file = None


_current: Probe | None = None


def current() -> Probe | None:
    """The probe of this process; none in a process that was forked off by somebody else."""
    return _current


def set_current(probe: Probe | None) -> None:
    global _current
    _current = probe


on_fork(lambda: set_current(None))  # a worker gets one of its own; asking for the process's number each time is dear


class _Frame(msgspec.Struct):
    worker: int
    pid: int
    rows: list[tuple[str, str, int, int, int, int, int, int, int]]


def read_rows(path: str) -> list[_Frame]:
    """What a probe wrote; a torn end is left out."""
    data = read_file(path, _LARGEST)
    found: list[_Frame] = []
    at = 0
    while at + _LENGTH.size <= len(data):
        (length,) = _LENGTH.unpack_from(data, at)
        frame = data[at + _LENGTH.size : at + _LENGTH.size + length]
        if len(frame) < length:
            break
        found.append(msgspec.msgpack.decode(frame, type=_Frame))
        at += _LENGTH.size + length
    return found
