"""How much of the processors other programs use while a training runs."""

from __future__ import annotations

from time import perf_counter

import psutil


class OtherPrograms:
    """Asked at the end of a stretch of time: `cores()` is the mean since it was made, without this process tree."""

    def __init__(self) -> None:
        self._began, self._busy, self._own = perf_counter(), _busy_s(), _own_s()

    def cores(self) -> float:
        taken = perf_counter() - self._began
        if taken <= 0:
            return 0.0
        others = (_busy_s() - self._busy) - (_own_s() - self._own)
        return max(0.0, others / taken)


def _busy_s() -> float:
    """Of all processors together; on a virtual machine also what the host has taken away."""
    times = psutil.cpu_times()
    idle = times.idle + getattr(times, "iowait", 0.0)
    guests = getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)  # counted in user time already
    return float(sum(times) - idle - guests)


def _own_s() -> float:
    """This process and its children, also those that have ended."""
    own = psutil.Process()
    times = own.cpu_times()
    total = times.user + times.system + getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0)
    for child in own.children(recursive=True):
        try:
            found = child.cpu_times()
        except psutil.Error:
            continue
        total += found.user + found.system
    return float(total)
