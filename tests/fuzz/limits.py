"""No input may take more than 5 s or 1 GB."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["LONGEST_S", "MOST_BYTES", "TookTooLong", "at_most"]

LONGEST_S = 5.0
MOST_BYTES = 1 << 30


class TookTooLong(BaseException):
    """Not an `Exception`: no reader passes over it."""


@contextmanager
def at_most(seconds: float = LONGEST_S, bytes_more: int = MOST_BYTES) -> Iterator[None]:
    """Within it more memory is a `MemoryError`, more CPU time a `TookTooLong`; a busy machine is nobody's fault."""

    def over(*_: object) -> None:
        raise TookTooLong(f"one input took more than {seconds:g} s")

    before = signal.signal(signal.SIGVTALRM, over)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_mapped_bytes() + bytes_more, limits[1]))
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, limits)
        signal.signal(signal.SIGVTALRM, before)


def _mapped_bytes() -> int:
    with open("/proc/self/statm") as text:
        return int(text.read().split()[0]) * resource.getpagesize()
