"""The critical path of a stretch of time: the chain of host work, launches, kernels and waits that made it so long.

Walked backwards from the end. On the host, all before the last wait for a device is bound to what was waited for; a
kernel is bound to its launch or to the work before it, whichever was later: the work before it on its stream, or after
a pause the last that ended on any stream. The host counts as one: while backward runs on its own thread, the training
thread waits for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.gaps import BACK_TO_BACK_NS, sync_rows
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.trace import Trace

Rows = npt.NDArray[Any]

HOST, DEVICE, LAUNCH, QUEUE, WAKE = range(5)
"""Host work · work on a device · from a launch to the kernel's start · between two pieces of work on the device · from
the end of the work that was waited for to the return of the wait."""

LONG_LAUNCH_NS = 500_000
"""A launching call this long waits for room in a full queue, and so for the device."""


@dataclass(frozen=True)
class Path:
    """Pieces that follow each other without a gap, in order of time."""

    begin: Rows
    end: Rows
    kind: Rows
    row: Rows
    """The event: the kernel of a DEVICE piece, the call of a LAUNCH or WAKE piece; -1 for the host."""


def critical_path(trace: Trace, begin: int, end: int) -> Path:
    """The path from `begin` to `end`; its pieces sum to their distance."""
    walk = _Walk(trace, begin, end)
    at, pieces = end, list[tuple[int, int, int, int]]()
    last = walk.ending_at(end)
    if last is not None:  # the step is over when its work on the device is
        at = walk.along_device(last, end, pieces)
    while at > begin:
        wait = walk.last_wait(at)
        if wait is None:
            pieces.append((begin, at, HOST, -1))
            break
        call, work = wait
        back = min(int(walk.stop[call]), at)
        if at > back:
            pieces.append((back, at, HOST, -1))
        done = min(int(walk.stop[work]), back)
        if back > done:
            pieces.append((max(done, begin), back, WAKE, call))
        at = walk.along_device(work, min(done, back), pieces)
    pieces.reverse()
    columns = np.array(pieces, np.int64).reshape(-1, 4).T
    return Path(*columns)


class _Walk:
    """The tables the walk looks things up in, made once for a stretch."""

    def __init__(self, trace: Trace, begin: int, end: int) -> None:
        events = trace.events
        self.begin = begin
        self.start, self.stop = events.start, events.start + np.maximum(events.dur, 0)
        self.launch = trace.launch
        work = trace.device_rows
        work = work[(self.start[work] < end) & (self.stop[work] > begin)]
        self.work = work[np.argsort(self.stop[work], kind="stable")]
        self.work_stop = self.stop[self.work]
        self.before = self._before(trace, work)
        self.waits, self.waited = self._waits(trace, begin, end)

    def _before(self, trace: Trace, work: Rows) -> dict[int, int]:
        """For each piece of work the one before it on its stream."""
        lane = trace.events.lane[work]
        order = work[np.lexsort((self.start[work], lane))]
        lane = trace.events.lane[order]
        same = lane[1:] == lane[:-1]
        return dict(zip(order[1:][same].tolist(), order[:-1][same].tolist(), strict=True))

    def _waits(self, trace: Trace, begin: int, end: int) -> tuple[list[int], list[int]]:
        """Calls in which the host waited, by their end, and the work each waited for: the last to end before it did."""
        calls = np.union1d(trace.once(sync_rows), self._long_launches(trace))
        calls = calls[(self.stop[calls] <= end) & (self.stop[calls] > begin)]
        calls = calls[np.argsort(self.stop[calls], kind="stable")]
        at = np.searchsorted(self.work_stop, self.stop[calls], side="right") - 1
        found = (at >= 0) & (len(self.work) > 0)
        calls, at = calls[found], at[found]
        # It did wait only if that work was still running when the call began.
        real = self.work_stop[at] > self.start[calls] if len(at) else np.zeros(0, bool)
        return calls[real].tolist(), self.work[at[real]].tolist()

    def _long_launches(self, trace: Trace) -> Rows:
        calls = self.launch[trace.rows(Kind.KERNEL)]
        calls = calls[(calls >= 0) & (trace.events.dur[calls] >= LONG_LAUNCH_NS)]
        return np.unique(calls)

    def ending_at(self, moment: int) -> int | None:
        """The work that ends at this very moment."""
        at = int(np.searchsorted(self.work_stop, moment, side="right")) - 1
        return int(self.work[at]) if at >= 0 and int(self.work_stop[at]) == moment else None

    def last_wait(self, at: int) -> tuple[int, int] | None:
        """The last wait of the host that was over by then."""
        while self.waits:
            call, work = self.waits.pop(), self.waited.pop()
            if int(self.stop[call]) <= at:
                return call, work
        return None

    def along_device(self, work: int, at: int, pieces: list[tuple[int, int, int, int]]) -> int:
        """Back along a stream, from the end of this work to the launch that bound it; answers with that moment."""
        while at > self.begin:
            start = max(min(int(self.start[work]), at), self.begin)
            if at > start:
                pieces.append((start, at, DEVICE, work))
            at = start
            call = int(self.launch[work])
            launched = int(self.start[call]) if call >= 0 else self.begin
            earlier = self._bound_to(work, at)
            ended = int(self.stop[earlier]) if earlier is not None else self.begin - 1
            if earlier is not None and ended >= launched and ended > self.begin:
                ended = min(ended, at)
                if at > ended:
                    pieces.append((ended, at, QUEUE, work))
                work, at = earlier, ended
                continue
            launched = max(min(launched, at), self.begin)
            if at > launched:
                pieces.append((launched, at, LAUNCH, call))
            return launched
        return at

    def _bound_to(self, work: int, at: int) -> int | None:
        """The work it came after: the one before it on its stream, or after a pause the last to end on any stream."""
        earlier = self.before.get(work)
        if earlier is not None and at - int(self.stop[earlier]) <= BACK_TO_BACK_NS:
            return earlier
        place = int(np.searchsorted(self.work_stop, at, side="right")) - 1
        while place >= 0 and int(self.work[place]) == work:
            place -= 1
        if place < 0:
            return earlier
        return int(self.work[place])
