"""The peak of memory, split by what it is."""

from __future__ import annotations

from typing import Any

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.memory.categories import CATEGORIES
from stepscope.profile.memory.peak import Peak, peaks_of
from stepscope.profile.memory.placed import Placed, placed_blocks
from stepscope.profile.profile import Profile
from stepscope.records.profile import Check, Column, Sheet

_LABELS = {
    "parameters": "parameters",
    "buffers": "buffers",
    "gradients": "gradients",
    "optimizer": "optimizer state",
    "activations": "activations",
    "temporaries": "temporaries",
    "input": "input",
    "unknown": "unknown",
}


@analysis("memory-peak", view="memory", of="profile")
def memory_peak(profile: Profile, rank: int = 0) -> Sheet | None:
    """What fills the memory at its highest: parameters, gradients, optimizer state, activations, temporaries, input."""
    placed = placed_blocks(profile, rank)
    if placed is None:
        return None
    rows: list[list[Any]] = []
    levels: list[int] = []
    checks = []
    for peak in peaks_of(placed):
        name = placed.blocks.devices[peak.device].name
        parts = peak.by_category(placed)
        rows.append([name, peak.total, 1.0, None, None, peak.at_ns - placed.trace.begin_ns])
        levels.append(0)
        for category, (size, blocks, largest) in sorted(
            zip(CATEGORIES, parts, strict=True), key=lambda part: -part[1][0]
        ):
            if size:
                share = size / max(1, peak.total)
                if category == "unknown" and peak.unexplained:  # of what was there before, no block is known
                    blocks = largest = 0
                rows.append([_LABELS[category], size, share, blocks or None, largest or None, None])
                levels.append(1)
        summed = sum(size for size, _, _ in parts)
        checks.append(
            Check(
                name=f"{name}: categories sum to the peak",
                got=summed,
                expected=peak.total,
                unit="bytes",
                ok=summed == peak.total and peak.unexplained >= 0,
            )
        )
    return Sheet(
        id="memory-peak",
        title="Memory at its peak",
        columns=_COLUMNS,
        rows=rows,
        levels=levels,
        checks=checks,
        notes=_notes(placed, peaks_of(placed)),
    )


def _notes(placed: Placed, peaks: list[Peak]) -> list[str]:
    notes = []
    if not any(placed.categories.before) and not any(placed.categories.name):
        notes.append(
            "The profile does not record where parameters and optimizer state are, so memory from before it began is "
            "unknown; profiles made by Stepscope record it."
        )
    if any(placed.blocks.devices[peak.device].is_cpu for peak in peaks):
        notes.append(
            "CPU memory is what torch allocated while the profile ran, and parameters and optimizer state from before."
        )
    notes.append(
        "Activations are blocks that backward still needs, temporaries are freed before that; both are recognized "
        "by when a block was allocated and freed."
    )
    return notes


_COLUMNS = [
    Column(key="what", label="What", help="The device, and below it what its memory holds at the peak."),
    Column(key="bytes", label="Bytes", unit="bytes", help="In use at the peak."),
    Column(key="share", label="Share", unit="share", help="Of the device's peak."),
    Column(key="blocks", label="Blocks", unit="count", help="The number of blocks."),
    Column(key="largest_bytes", label="Largest", unit="bytes", help="The largest block."),
    Column(key="at_ns", label="At", unit="ns", help="When the peak is, from the beginning of the profile."),
]
