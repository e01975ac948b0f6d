"""Blocks of memory with their lives, paired out of the allocations and frees of a trace."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.trace import Trace

Ints = npt.NDArray[Any]

_DEVICES = {
    0: "CPU",
    1: "CUDA",
    2: "MKLDNN",
    6: "HIP",
    9: "XLA",
    12: "XPU",
    13: "MPS",
    18: "HPU",
    19: "IPU",
    20: "MTIA",
}
"""torch's c10::DeviceType, as the traces number it."""


def device_name(kind: int, number: int) -> str:
    """CPU, CUDA 0 ..."""
    name = _DEVICES.get(kind, f"device {kind}")
    return name if kind == 0 or number < 0 else f"{name} {number}"


@dataclass(frozen=True)
class DeviceMemory:
    """What one device's allocator said, in the order of time."""

    name: str
    is_cpu: bool
    at_ns: Ints
    change: Ints
    """Bytes; negative for a free."""
    allocated: Ints
    """After each change, as the allocator counts it; on the CPU without what the trace knows nothing of."""
    reserved: Ints

    @cached_property
    def before(self) -> int:
        """Allocated when the trace begins."""
        return int(self.allocated[0] - self.change[0])

    @cached_property
    def peak_at(self) -> int:
        """The position of the highest count."""
        return int(np.argmax(self.allocated))


@dataclass(frozen=True)
class Blocks:
    """A row a block."""

    devices: list[DeviceMemory]
    device: Ints
    """Index into `devices`."""
    address: Ints
    bytes: Ints
    begin_ns: Ints
    """-1: allocated before the trace begins, and known by its being freed."""
    end_ns: Ints
    """-1: still there when the trace ends."""
    host: Ints
    """The row of the host event that allocated it, or -1."""
    freed_by: Ints
    """The row of the host event that freed it, or -1."""

    def __len__(self) -> int:
        return len(self.bytes)

    def live_at(self, device: int, ns: int) -> Ints:
        """A mask: blocks of a device that are there just after a moment."""
        began = self.begin_ns <= ns
        ends = (self.end_ns < 0) | (self.end_ns > ns)
        return np.asarray((self.device == device) & began & ends)


def blocks_of(trace: Trace) -> Blocks | None:
    """The blocks of a trace taken with memory; None without."""
    rows, events = trace.memory_rows, trace.events
    change = events.number("Bytes", 0)[rows]
    some = change != 0  # the CPU allocator says 0 for what it did not see being allocated
    rows, change, host = rows[some], change[some], trace.memory_host[some]
    if not len(rows):
        return None
    kinds, numbers = events.number("Device Type", 0)[rows], events.number("Device Id", -1)[rows]
    device = np.zeros(len(rows), np.int64)
    at_change = _changes(kinds, numbers)
    pairs = list(dict.fromkeys(zip(kinds[at_change].tolist(), numbers[at_change].tolist(), strict=True)))
    for i, (kind, number) in enumerate(pairs):
        device[(kinds == kind) & (numbers == number)] = i
    at, address = events.start[rows], events.number("Addr", 0)[rows]
    allocated, reserved = events.number("Total Allocated", 0)[rows], events.number("Total Reserved", 0)[rows]
    devices = []
    for i, (kind, number) in enumerate(pairs):
        mine = device == i
        count = allocated[mine]
        if not count.any():  # torch before 1.10 does not say its count
            count = np.cumsum(change[mine])
            count -= min(0, int(count.min()))
        devices.append(
            DeviceMemory(device_name(kind, number), kind == 0, at[mine], change[mine], count, reserved[mine])
        )
    blocks = _paired(devices, device, address, change, at, host)
    return replace(blocks, devices=[_from_here(blocks, i) for i in range(len(devices))])


def _from_here(blocks: Blocks, i: int) -> DeviceMemory:
    """A device's count; the CPU's made to begin with the blocks from before that the trace knows of.

    torch counts CPU memory only while it profiles, but never from zero again: a second window continues where the first
    ended, with all that was freed between them.
    """
    device = blocks.devices[i]
    if not device.is_cpu:
        return device
    old = int(blocks.bytes[(blocks.device == i) & (blocks.begin_ns < 0)].sum())
    return replace(device, allocated=device.allocated - device.before + old)


def _changes(kinds: Ints, numbers: Ints) -> Ints:
    """The positions where the device is another than just before, and the first."""
    other = np.ones(len(kinds), bool)
    other[1:] = (kinds[1:] != kinds[:-1]) | (numbers[1:] != numbers[:-1])
    return np.flatnonzero(other)


def _paired(devices: list[DeviceMemory], device: Ints, address: Ints, change: Ints, at: Ints, host: Ints) -> Blocks:
    """An allocation belongs with the next free of its address; a free without one is of a block from before."""
    order = np.lexsort((np.arange(len(at)), address, device))  # `at` ascends already
    device, address, change, at, host = (column[order] for column in (device, address, change, at, host))
    same = np.zeros(len(order), bool)
    same[:-1] = (device[1:] == device[:-1]) & (address[1:] == address[:-1])
    gains = change > 0
    closes = np.zeros(len(order), bool)
    closes[:-1] = gains[:-1] & same[:-1] & ~gains[1:]  # the next row is this one's free
    opened = np.zeros(len(order), bool)
    opened[1:] = closes[:-1]
    keep = np.flatnonzero(gains | ~opened)
    after = np.minimum(keep + 1, len(order) - 1)
    closed, is_new = closes[keep], gains[keep]
    end = np.where(is_new, np.where(closed, at[after], -1), at[keep])
    return Blocks(
        devices=devices,
        device=device[keep],
        address=address[keep],
        bytes=np.abs(change[keep]),
        begin_ns=np.where(is_new, at[keep], -1),
        end_ns=end,
        host=np.where(is_new, host[keep], -1).astype(np.int32),
        freed_by=np.where(is_new, np.where(closed, host[after], -1), host[keep]).astype(np.int32),
    )
