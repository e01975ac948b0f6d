"""Memory over time: what each device's allocator had handed out and reserved."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.kept import kept
from stepscope.profile.memory.blocks import Blocks
from stepscope.profile.memory.history import history_of
from stepscope.profile.memory.placed import blocks_in
from stepscope.profile.memory.snapshot_file import decode_snapshot
from stepscope.profile.profile import Profile
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Curve

Ints = npt.NDArray[Any]

_STRETCHES = 1000


@analysis("memory-curve", view="memory", of="profile")
def memory_curve(profile: Profile, rank: int = 0) -> Curve | None:
    """Allocated and reserved memory of each device over time."""
    trace, blocks = profile.trace(rank), kept(profile, rank, blocks_in)
    found = None if trace is None or blocks is None else _of_trace(trace, blocks)
    if found is None:
        raw = profile.read("memory", rank)
        found = None if raw is None else _of_snapshot(raw)
    return found


def _of_trace(trace: Trace, blocks: Blocks) -> Curve:
    series: dict[str, tuple[Ints, Ints, float]] = {}
    notes = []
    for device in blocks.devices:
        series[f"{device.name} allocated"] = (device.at_ns, device.allocated, device.before)
        if device.reserved.any():
            series[f"{device.name} reserved"] = (device.at_ns, device.reserved, float(device.reserved[0]))
        if device.is_cpu:
            notes.append("CPU memory is counted from the start of the profile; earlier allocations are not included.")
    return _curve(series, trace.begin_ns, trace.end_ns, notes)


def _of_snapshot(raw: bytes) -> Curve | None:
    """From CUDA's own history, where there is no trace with memory."""
    series: dict[str, tuple[Ints, Ints, float]] = {}
    for history in history_of(decode_snapshot(raw)):
        at, used, before = history.curve()
        if len(at):
            series[f"CUDA {history.device} allocated"] = (at, used, before)
    if not series:
        return None
    begin, end = min(int(at[0]) for at, _, _ in series.values()), max(int(at[-1]) for at, _, _ in series.values())
    notes = ["From CUDA's history of allocations: sizes as asked for, rounded up to 512 bytes."]
    return _curve(series, begin, end, notes)


def _curve(series: dict[str, tuple[Ints, Ints, float]], begin: int, end: int, notes: list[str]) -> Curve:
    at, lines = stretches(series, begin, end)
    return Curve(id="memory-curve", title="Memory over time", at_ns=at, lines=lines, unit="bytes", notes=notes)


def stretches(
    series: dict[str, tuple[Ints, Ints, float]], begin: int, end: int, most: int = _STRETCHES
) -> tuple[list[int], dict[str, list[float]]]:
    """Steps over time on one axis; of each stretch the minimum and the maximum are kept, in the order they came.

    `series`: times (ascending), values after them, and the value before the first. Few points are kept as they are.
    """
    if sum(len(at) for at, _, _ in series.values()) <= 2 * most:
        edges = np.unique(np.concatenate([at for at, _, _ in series.values()]))
        lines = {name: _held(at, values, first, edges) for name, (at, values, first) in series.items()}
        return (edges - begin).tolist(), lines
    first_at = min(int(at[0]) for at, _, _ in series.values())
    last_at = max(int(at[-1]) for at, _, _ in series.values())
    # Unix nanoseconds are too large for a float to count them one by one; their distances are not.
    first_at, last_at = min(begin, first_at), max(end, last_at)
    cuts = first_at + np.linspace(0, last_at + 1 - first_at, most + 1).astype(np.int64)
    axis = np.repeat(cuts[:-1], 2)
    axis[1::2] += np.diff(cuts) // 2
    lines = {}
    for name, (at, values, first) in series.items():
        starts = np.searchsorted(at, cuts[:-1])
        held = _held(at, values, first, cuts[:-1] - 1)
        padded = np.append(values.astype(np.float64), values[-1])
        low, high = np.array(held), np.array(held)
        some = np.flatnonzero(np.diff(np.append(starts, len(at))) > 0)
        low[some] = np.minimum(low[some], np.minimum.reduceat(padded, starts[some]))
        high[some] = np.maximum(high[some], np.maximum.reduceat(padded, starts[some]))
        rising = padded[np.minimum(np.append(starts[1:], len(at)), len(at)) - 1] >= np.array(held)
        out = np.empty(2 * most)
        out[0::2] = np.where(rising, low, high)
        out[1::2] = np.where(rising, high, low)
        lines[name] = [*out.tolist(), float(values[-1])]
    return (np.append(axis, cuts[-1]) - begin).tolist(), lines


def _held(at: Ints, values: Ints, first: float, when: Ints) -> list[float]:
    """The value that holds at each moment."""
    place = np.searchsorted(at, when, side="right") - 1
    held: list[float] = np.where(place >= 0, values[np.maximum(place, 0)].astype(np.float64), first).tolist()
    return held
