"""What is in memory when most of it is used, split so that the parts sum to the peak."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.memory.categories import CATEGORIES, Storage
from stepscope.profile.memory.placed import Placed

Ints = npt.NDArray[Any]

_UNKNOWN = CATEGORIES.index("unknown")


@dataclass(frozen=True)
class Peak:
    """The highest moment of one device."""

    device: int
    at_ns: int
    total: int
    """Bytes, as the allocator counts them. On the CPU with what the collector knows to be there since before."""
    live: Ints
    """Rows of the blocks that are there."""
    before: list[Storage]
    """Storages that are there since before the trace."""
    unexplained: int
    """Bytes from before the trace of which nothing is known."""

    def by_category(self, placed: Placed) -> list[tuple[int, int, int]]:
        """For each category: bytes, blocks, and the largest block."""
        found = [[0, 0, 0] for _ in CATEGORIES]
        sizes = placed.blocks.bytes[self.live].tolist()
        which = placed.categories.category[self.live].tolist()
        for category, size in [*zip(which, sizes, strict=True), *((one.category, one.bytes) for one in self.before)]:
            entry = found[category]
            entry[0] += size
            entry[1] += 1
            entry[2] = max(entry[2], size)
        found[_UNKNOWN][0] += self.unexplained
        return [(size, blocks, largest) for size, blocks, largest in found]


def peaks_of(placed: Placed) -> list[Peak]:
    """The peak of each device, the largest first."""
    peaks = []
    for i, device in enumerate(placed.blocks.devices):
        at = int(device.at_ns[device.peak_at])
        live = np.flatnonzero(placed.blocks.live_at(i, at))
        seen, before = int(placed.blocks.bytes[live].sum()), placed.categories.before[i]
        known = sum(one.bytes for one in before)
        allocated = int(device.allocated[device.peak_at])
        # The CPU's count is of what the trace saw, so what was there before comes on top.
        total = allocated + known if device.is_cpu else allocated
        peaks.append(Peak(i, at, total, live, before, total - seen - known))
    return sorted(peaks, key=lambda peak: -peak.total)
