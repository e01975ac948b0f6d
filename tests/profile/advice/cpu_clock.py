"""A clock that other programs do not stretch: CPU time of the thread and of its workers, and the sleep it asked for.

Where 25 programs want two processors, a training needs twelve times the wall time, and the same CPU time. Sleeps take
no time at all here: the clock is put forward instead.
"""

from __future__ import annotations

import multiprocessing
import time

import pytest

from stepscope.common import clocks
from stepscope.profile.collect.clock import Clock

__all__ = ["cpu_clock"]


class _CpuTime:
    """Only for the thread that made it."""

    def __init__(self) -> None:
        self._slept = 0
        self._workers: dict[int, int] = {}
        self._children = multiprocessing.process._children  # type: ignore[attr-defined]

    def sleep(self, seconds: float) -> None:
        self._slept += round(seconds * 1e9)

    def wall_ns(self) -> int:
        for worker in list(self._children):
            # Linux names the CPU clock of another process by its number; see clock_getcpuclockid(3).
            try:
                self._workers[worker.pid] = time.clock_gettime_ns((~worker.pid << 3) | 2)
            except OSError:
                continue  # it has ended: what it took up to then counts
        return time.thread_time_ns() + self._slept + sum(self._workers.values())


def cpu_clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """For `Facts`: nothing else runs on this machine, and `time.sleep` returns at once."""
    now = _CpuTime()
    for sleeper in (time, clocks):
        monkeypatch.setattr(sleeper, "sleep", now.sleep)
    return Clock(now.wall_ns, time.thread_time_ns, lambda: _nobody)


def _nobody() -> float:
    return 0.0
