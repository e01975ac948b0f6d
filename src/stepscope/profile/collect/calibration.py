"""What a worker, a copy, a thread and a launch cost on this machine, measured once and kept in the user's cache.

Made in the process of a script whose training no longer matters (see launch/profiling/trials.py): torch is there
already, and a worker costs what it costs that very process. It takes half a second of CPU time, once for a machine.
Each figure is the quickest of several attempts; figures of a machine that others keep busy are used, but not kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from statistics import fmean
from time import perf_counter_ns, thread_time_ns
from types import ModuleType
from typing import Any

from stepscope import events, fence
from stepscope.files.opening import read_file
from stepscope.profile.collect.facts_process import usable_cores
from stepscope.profile.collect.other_programs import OtherPrograms
from stepscope.runs.catalogue.index import cache_folder

_VERSION = 1
_LARGEST = 1 << 20
_BATCHES, _LARGE_BYTES = 24, 4 << 20
_SIDE, _DEVICE_SIDE = 768, 4096
_BUSY = 0.25


def calibrated(torch: ModuleType) -> dict[str, Any]:
    """The figures of this machine: kept ones, or measured now; {} where they cannot be measured."""
    file = cache_folder() / "machine.json"
    key = _key(torch)
    kept = _read(file)
    if isinstance(kept.get(key), dict):
        found: dict[str, Any] = kept[key]
        return found
    others = OtherPrograms()
    figures = _measure(torch)
    if figures and others.cores() < _BUSY:
        _write(file, {**kept, key: figures})
    return figures


def _key(torch: ModuleType) -> str:
    """What the figures depend on. They are measured again where one of it is new."""
    device = torch.cuda.get_device_name() if torch.cuda.is_initialized() else "cpu"
    parts = (platform.node(), platform.processor(), _processor(), usable_cores(), torch.__version__, device)
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line for line in lines if line.startswith("model name")), "")


def _read(file: Path) -> dict[str, Any]:
    try:
        kept = json.loads(read_file(file, _LARGEST, within=file.parent))
    except (OSError, ValueError):
        return {}
    machines = kept.get("machines") if isinstance(kept, dict) and kept.get("version") == _VERSION else None
    return machines if isinstance(machines, dict) else {}


def _write(file: Path, machines: dict[str, Any]) -> None:
    """A cache that cannot be written is measured again the next time."""
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f"{file.name}.{os.getpid()}")
        part.write_text(json.dumps({"version": _VERSION, "machines": machines}, indent=1))
        os.replace(part, file)


# -- measuring --------------------------------------------------------------------------------------------------------


def _measure(torch: ModuleType) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    parts = [_host, _workers] + [_device] * bool(torch.cuda.is_initialized())
    for part in parts:
        with events.quietly():
            found = fence.fenced("measuring what this machine can do")(part)(torch)
        figures.update(found or {})
    rounded = {name: float(f"{value:.4g}") for name, value in figures.items()}
    return {**rounded, "is_measured": True} if rounded else {}


def _quickest(action: Callable[[], Any], times: int = 5) -> float:
    taken = []
    for _ in range(times):
        began = perf_counter_ns()
        action()
        taken.append(perf_counter_ns() - began)
    return float(max(1, min(taken)))


def _host(torch: ModuleType) -> dict[str, float]:
    """Operations, copies, and what threads and float32 give a large product."""
    small, large = torch.ones(16), torch.ones(2 << 20)
    target = torch.empty_like(large)

    def many() -> None:
        for _ in range(200):
            small.add(1)

    threads, cores = torch.get_num_threads(), usable_cores()
    single = torch.ones(_SIDE, _SIDE)
    double = single.double()
    try:
        torch.set_num_threads(1)
        found = {
            "op_ns": _quickest(many) / 200,
            "copy_bytes_per_ns": 4 * large.numel() / _quickest(lambda: target.copy_(large)),
        }
        alone = _quickest(lambda: single @ single)
        found["double_gain"] = _quickest(lambda: double @ double, 3) / alone
        if cores > 1:
            torch.set_num_threads(cores)
            found["threads_gain"] = max(1.0, alone / _quickest(lambda: single @ single))
    finally:
        torch.set_num_threads(threads)
    return found


class _Ones:
    """A dataset whose batches cost nothing to make."""

    def __init__(self, sample: Any) -> None:
        self.sample = sample

    def __len__(self) -> int:
        return _BATCHES

    def __getitem__(self, index: int) -> Any:
        return self.sample


def _workers(torch: ModuleType) -> dict[str, float]:
    """One worker of a DataLoader: its start, and what it costs both sides to hand a batch over."""
    if sys.platform != "linux":
        return {}  # elsewhere a worker imports the script again: that cannot be measured in passing
    start, small, sent = _one_worker(torch, 64)
    _, large, _ = _one_worker(torch, _LARGE_BYTES // 4)
    return {
        "worker_start_ns": start,
        "hand_over_ns": small,
        "worker_batch_ns": sent,
        "hand_over_bytes_per_ns": _LARGE_BYTES / max(1.0, large - small),
    }


def _one_worker(torch: ModuleType, numbers: int) -> tuple[float, float, float]:
    """(nanoseconds to the first batch, of the training for a batch, from one batch to the next)"""
    from torch.utils.data import DataLoader

    # A generator of its own: the script's random numbers stay where they are.
    data: Any = _Ones(torch.ones(numbers))
    loader: Any = DataLoader(data, batch_size=None, num_workers=1, generator=torch.Generator())
    began = perf_counter_ns()
    iterator = loader._get_iterator()
    try:
        iterator._next_data()
        start = perf_counter_ns() - began
        walls, works = [], []
        for _ in range(_BATCHES - 1):
            wall, work = perf_counter_ns(), thread_time_ns()
            iterator._next_data().sum()  # read it: pages of shared memory come when they are touched
            walls.append(perf_counter_ns() - wall)
            works.append(thread_time_ns() - work)
    finally:
        iterator._shutdown_workers()
    half = len(works) // 2
    return float(start), fmean(sorted(works)[:half]), fmean(sorted(walls)[:half])


def _device(torch: ModuleType) -> dict[str, float]:
    """Launches, copies to the device, and what tensor cores give a large product."""
    wait = torch.cuda.synchronize

    def timed(action: Callable[[], Any], times: int = 4) -> float:
        def waited() -> None:
            action()
            wait()

        waited()
        return _quickest(waited, times)

    small = torch.ones(16, device="cuda")
    weight = torch.ones(16, device="cuda", requires_grad=True)

    def many() -> None:
        with torch.enable_grad():
            value = weight
            for _ in range(100):
                value = value * small
            value.sum().backward(inputs=[weight])

    host = torch.empty(8 << 20)
    pinned = host.pin_memory()
    target = torch.empty_like(host, device="cuda")
    single = torch.ones(_DEVICE_SIDE, _DEVICE_SIDE, device="cuda")
    half = single.bfloat16()
    found = {
        "launch_ns": timed(many) / 200,
        "pageable_bytes_per_ns": 4 * host.numel() / timed(lambda: target.copy_(host)),
        "pinned_bytes_per_ns": 4 * host.numel() / timed(lambda: target.copy_(pinned, non_blocking=True)),
    }
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("highest")
        plain = timed(lambda: single @ single)
        torch.set_float32_matmul_precision("high")
        found["tf32_gain"] = plain / timed(lambda: single @ single)
    finally:
        torch.set_float32_matmul_precision(before)
    found["half_gain"] = plain / timed(lambda: half @ half)
    return found
