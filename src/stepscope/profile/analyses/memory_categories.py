"""Memory over time by what it is: the categories of the peak, at every moment, one upon the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.memory.blocks import DeviceMemory
from stepscope.profile.memory.categories import CATEGORIES
from stepscope.profile.memory.peak import peaks_of
from stepscope.profile.memory.placed import Placed, placed_blocks
from stepscope.profile.profile import Profile
from stepscope.records.profile import Curve

Ints = npt.NDArray[Any]

_STRETCHES = 600


@analysis("memory-categories", view="memory", of="profile")
def memory_categories(profile: Profile, rank: int = 0) -> Curve | None:
    """Memory over time, split into parameters, gradients, optimizer state, activations, temporaries and input."""
    placed = placed_blocks(profile, rank)
    if placed is None:
        return None
    peak = peaks_of(placed)[0]
    device = placed.blocks.devices[peak.device]
    moments = _moments(device)
    lines = {}
    for i, category in enumerate(CATEGORIES):
        before = sum(one.bytes for one in peak.before if one.category == i)
        if category == "unknown":
            before += peak.unexplained
        values = before + _held(placed, peak.device, i, moments)
        if values.any():
            lines[category] = values.astype(np.float64).tolist()
    return Curve(
        id="memory-categories",
        title=f"Memory of {device.name} by what it is",
        at_ns=(moments - placed.trace.begin_ns).tolist(),
        lines=lines,
        unit="bytes",
        stacked=True,
        notes=[f"The areas are stacked: their sum is the memory allocated on {device.name}."],
    )


def _moments(device: DeviceMemory) -> Ints:
    """When to look: of each stretch of time, when the most and when the least was in use."""
    n = len(device.at_ns)
    if n <= 2 * _STRETCHES:
        return device.at_ns
    edges = np.linspace(0, n, _STRETCHES + 1).astype(np.int64)
    order = np.argsort(device.allocated, kind="stable")
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n)
    low, high = np.minimum.reduceat(rank, edges[:-1]), np.maximum.reduceat(rank, edges[:-1])
    positions = np.unique(np.concatenate([order[low], order[high], [n - 1]]))
    return np.asarray(device.at_ns[positions])


def _held(placed: Placed, device: int, category: int, moments: Ints) -> Ints:
    """Bytes of a category that are there just after each moment."""
    blocks = placed.blocks
    mine = (blocks.device == device) & (placed.categories.category == category)
    old = mine & (blocks.begin_ns < 0)
    new, gone = mine & ~old, mine & (blocks.end_ns >= 0)
    total = np.full(len(moments), int(blocks.bytes[old].sum()), np.int64)
    for which, at, sign in ((new, blocks.begin_ns, 1), (gone, blocks.end_ns, -1)):
        order = np.argsort(at[which], kind="stable")
        upto = np.concatenate([[0], np.cumsum(blocks.bytes[which][order])])
        total += sign * upto[np.searchsorted(at[which][order], moments, side="right")]
    return total
