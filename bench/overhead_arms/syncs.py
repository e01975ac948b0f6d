"""Counts how often a step makes the host wait for the GPU, in two independent ways."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import torch

_WAITS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize", "cudaMemcpy")


class Counting:
    """`counting("sync")` or `counting("profile")` begins, `counting("")` ends and gives the counts."""

    def __init__(self) -> None:
        self._caught: Any = None
        self._seen: list[Any] = []
        self._profile: Any = None

    def __call__(self, how: str) -> dict[str, int] | None:
        if how == "sync":
            # torch warns at each of its own waits, with the line that caused it
            self._caught = warnings.catch_warnings(record=True)
            self._seen = self._caught.__enter__()
            warnings.simplefilter("always")
            torch.cuda.set_sync_debug_mode("warn")
        elif how == "profile":
            activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
            self._profile = torch.profiler.profile(activities=activities).__enter__()
        elif self._caught is not None:
            torch.cuda.set_sync_debug_mode("default")
            self._caught.__exit__(None, None, None)
            self._caught = None
            found = [w for w in self._seen if "synchroniz" in str(w.message)]
            return dict(Counter(f"{w.filename.rsplit('/', 2)[-1]}:{w.lineno}" for w in found))
        elif self._profile is not None:
            profile, self._profile = self._profile, None
            profile.__exit__(None, None, None)
            return {e.key: e.count for e in profile.key_averages() if e.key in _WAITS or e.key == "cudaMemcpyAsync"}
        return None
