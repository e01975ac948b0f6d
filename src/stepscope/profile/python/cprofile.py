"""The deterministic profiler: cProfile around a part of the training, every call counted and timed."""

from __future__ import annotations

import cProfile
import threading
from typing import Any

from stepscope.errors import UsageError
from stepscope.profile.python.files import LIBRARY, OURS, kind_of
from stepscope.profile.python.stats import ProfStats
from stepscope.profile.python.without import without


class CProfiler:
    """Profiles the thread that starts it, until it is stopped. May be started again: times add up.

        profiler = CProfiler()
        profiler.start()
        train()
        profiler.stop()
        profiler.result().sorted("tottime")[:10]

    Every Python call costs about a microsecond more while it is on, so its times favor few, long calls;
    `stepscope.profile.python.sampler` has no such bias.
    """

    def __init__(self) -> None:
        self._profile: Any = None
        self._thread: int | None = None

    @property
    def is_on(self) -> bool:
        return self._thread is not None

    def start(self) -> None:
        """Begin, in this thread."""
        if self.is_on:
            return
        if self._profile is None:
            self._profile = cProfile.Profile()
        try:
            self._profile.enable()
        except ValueError:  # Python 3.12 and later: one at a time
            raise UsageError(
                "another profiler is at work in this process (the script's own cProfile, or a coverage tool); "
                "end it, or choose --profiler simple or pytorch"
            ) from None
        self._thread = threading.get_ident()

    def stop(self) -> None:
        """End, in the thread that began."""
        if self._thread != threading.get_ident():
            return
        self._profile.disable()
        self._thread = None

    def result(self) -> ProfStats:
        """What was measured so far, without our own functions: Stepscope's hooks around the script's calls."""
        if self._profile is None:
            return ProfStats({})
        was_on = self.is_on
        self.stop()
        self._profile.snapshot_stats()
        stats = ProfStats.of(self._profile.stats)
        if was_on:
            self.start()
        return without(stats, _is_ours, _may_be_ours)


def _is_ours(function: tuple[str, int, str]) -> bool:
    file, _, name = function
    return kind_of(file) == OURS or "'_lsprof.Profiler'" in name


def _may_be_ours(function: tuple[str, int, str]) -> bool:
    """What a hook calls for itself (clocks, dicts, psutil), and not what it wraps (torch, the user's)."""
    file, line, name = function
    if file == "~" and not line:
        return not any(word in name for word in ("torch", "Tensor", "numpy"))
    return kind_of(file) == LIBRARY
