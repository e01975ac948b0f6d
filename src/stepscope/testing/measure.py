"""The cost of an unwatched step: wall time, and memory from the allocators."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from contextlib import contextmanager
from statistics import median
from typing import TYPE_CHECKING, Any

import torch

from stepscope.profile.collect.torch_window import quiet_kineto, without_noise

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUNDS = 3


def timed(step: Callable[[], Any], repeats: int, is_fine: Callable[[float], bool]) -> list[float]:
    """Milliseconds of each call, from the best of up to three rounds.

    Other load makes a round slower, never faster. So a slow round is repeated, and only a step that is slow in all
    rounds counts as slow.
    """
    rounds: list[list[float]] = []
    while len(rounds) < ROUNDS and not (rounds and is_fine(median(rounds[-1]))):
        rounds.append(_round(step, repeats))
    return min(rounds, key=median)


def _round(step: Callable[[], Any], repeats: int) -> list[float]:
    taken = []
    with _no_garbage():
        step()  # caches are warm again
        for _ in range(repeats):
            _wait()
            began = time.perf_counter()
            step()
            _wait()
            taken.append((time.perf_counter() - began) * 1e3)
    return taken


def reference_ms() -> float:
    """The current time of a fixed amount of Python and arithmetic: the median of seven."""
    square, taken = torch.ones(192, 192), []
    with _no_garbage(), torch.no_grad():
        for _ in range(8):
            began = time.perf_counter()
            for _ in range(8):
                square @ square
            sum(range(20_000))
            taken.append((time.perf_counter() - began) * 1e3)
    return median(taken[1:])


def _wait() -> None:
    """Synchronize devices: otherwise the launches would be measured, not the work."""
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.synchronize()
    mps = getattr(torch.backends, "mps", None)
    if mps is not None and mps.is_available():
        torch.mps.synchronize()


@contextmanager
def _no_garbage() -> Iterator[None]:
    on = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def peak_bytes(step: Callable[[], Any]) -> int:
    """The peak memory of tensors during a step, beyond what was allocated before.

    On CUDA it is the allocator's own peak, else the sum of allocations the profiler reports; both are exact.
    """
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return _cuda_peak(step)
    with _no_garbage():
        return min(_profiled_peak(step) for _ in range(2))


def _cuda_peak(step: Callable[[], Any]) -> int:
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    step()
    torch.cuda.synchronize()
    return max(0, torch.cuda.max_memory_allocated() - before)


def _profiled_peak(step: Callable[[], Any]) -> int:
    from torch.autograd.profiler import profile

    with without_noise(), quiet_kineto(), profile(profile_memory=True) as seen:
        step()
    events = [event for event in seen.kineto_results.events() if event.name() == "[memory]"]
    live = peak = 0
    for event in sorted(events, key=lambda event: event.start_ns() if hasattr(event, "start_ns") else event.start_us()):
        live += event.nbytes()
        peak = max(peak, live)
    return peak
