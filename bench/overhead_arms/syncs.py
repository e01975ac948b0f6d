"""Counts how often a step makes the host wait for the GPU, in two independent ways."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch

STEPS = 10
_WAITS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize", "cudaMemcpy", "cudaMemcpyAsync")


def waits() -> list[tuple[str, int, Callable[[], None], Callable[[], dict[str, Any]]]]:
    """For `Clock.late`. Each block ends with one wait of the bench's own."""
    warned, profiled = Warned(), Profiled()
    return [("sync", STEPS, warned.begin, warned.end), ("profile", STEPS, profiled.begin, profiled.end)]


class Warned:
    """torch warns at each of its own waits, with the line that caused it."""

    def begin(self) -> None:
        self._caught = warnings.catch_warnings(record=True)
        self._seen = self._caught.__enter__() or []
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")

    def end(self) -> dict[str, Any]:
        torch.cuda.set_sync_debug_mode("default")
        self._caught.__exit__(None, None, None)
        found = [w for w in self._seen if "synchroniz" in str(w.message)]
        return {"waits": dict(Counter(f"{w.filename.rsplit('/', 2)[-1]}:{w.lineno}" for w in found))}


class Profiled:
    """What torch.profiler saw of the CUDA runtime."""

    def begin(self) -> None:
        activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        self._profile = torch.profiler.profile(activities=activities)
        self._profile.__enter__()

    def end(self) -> dict[str, Any]:
        self._profile.__exit__(None, None, None)
        return {"waits": {e.key: e.count for e in self._profile.key_averages() if e.key in _WAITS}}
