"""The clocks that facts are timed with. Tests give others: a busy machine stretches wall time, not CPU time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter_ns, thread_time_ns


def _other_programs() -> Callable[[], float]:
    from stepscope.profile.collect.other_programs import OtherPrograms

    return OtherPrograms().cores


@dataclass(frozen=True)
class Clock:
    """Times in nanoseconds; only differences count."""

    wall_ns: Callable[[], int] = perf_counter_ns
    work_ns: Callable[[], int] = thread_time_ns
    """CPU time of the thread that asks."""
    others: Callable[[], Callable[[], float]] = _other_programs
    """Begins to count the processors that other programs keep busy; asked once, at the end."""
