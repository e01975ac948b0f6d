"""Time as a task itself spends it: working and waiting for disks or locks, but not waiting for a busy machine.

Limits counted this way end a trial at the same place on a quiet machine and on a loaded one. Linux says how long a task
waited for a processor; elsewhere this is the plain clock.
"""

from __future__ import annotations

from stepscope.common import clocks

__all__ = ["own_time", "waited_s"]


def own_time() -> float:
    """Seconds on a clock that stops while this thread waits for a processor."""
    return clocks.perf_counter() - waited_s("thread-self")


def waited_s(task: int | str) -> float:
    """Seconds that a process (or `thread-self`) was ready to run and had no processor; 0 where that is unknown."""
    try:
        with open(f"/proc/{task}/schedstat", "rb", buffering=0) as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0
