"""The peak of memory by source line."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.memory.categories import CATEGORIES
from stepscope.profile.memory.history import history_of, own_frame
from stepscope.profile.memory.peak import peaks_of
from stepscope.profile.memory.placed import Placed, placed_blocks
from stepscope.profile.memory.snapshot_file import decode_snapshot
from stepscope.profile.profile import Profile
from stepscope.records.profile import Check, Column, Sheet


@analysis("memory-lines", view="memory", of="profile")
def memory_lines(profile: Profile, rank: int = 0) -> Sheet | None:
    """Which of your lines allocated what is in memory when most of it is used."""
    placed, raw = placed_blocks(profile, rank), profile.read("memory", rank)
    if placed is not None and (placed.lines is not None or placed.exact):
        return _of_trace(placed)
    return None if raw is None else _of_snapshot(raw)


def _of_snapshot(raw: bytes) -> Sheet | None:
    """From CUDA's own history, which has the exact line of every allocation."""
    snapshot = decode_snapshot(raw)
    devices = history_of(snapshot)
    if not devices:
        return None
    when, total, live = devices[0].peak()
    lines: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in live.tolist():
        frame = own_frame(snapshot, int(devices[0].stack[row]))
        key = (f"{frame[0]}:{frame[1]}", frame[2]) if frame else ("", "")
        _add(lines[key], int(devices[0].bytes[row]))
    notes = ["From CUDA's history of allocations. The line is the innermost of yours when a block was allocated."]
    if snapshot.left_out:
        notes.append(f"The oldest {snapshot.left_out:,} entries of the history were not kept.")
    if when < 0:
        notes.append("The peak was before the history begins.")
    device = f"CUDA {devices[0].device}"
    return _sheet(device, total, [[where or None, name or None, None, *n] for (where, name), n in lines.items()], notes)


def _of_trace(placed: Placed) -> Sheet:
    """From the blocks of the trace, whose sizes are exact; with CUDA's history their lines are, too."""
    peak = peaks_of(placed)[0]
    lines: dict[tuple[str | None, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in peak.live.tolist():
        category = CATEGORIES[int(placed.categories.category[row])]
        _add(lines[placed.line(row), category], int(placed.blocks.bytes[row]))
    for storage in peak.before:
        _add(lines[None, CATEGORIES[storage.category]], storage.bytes)
    if peak.unexplained:
        lines[None, "unknown"][0] += peak.unexplained
    device = placed.blocks.devices[peak.device].name
    notes = ["Memory allocated before the profile began has no line."]
    if placed.exact:
        notes.append("Lines are those of CUDA's own history of allocations; in backward, that of the forward.")
    return _sheet(device, peak.total, [[where, None, what, *n] for (where, what), n in lines.items()], notes)


def _add(entry: list[int], size: int) -> None:
    entry[0] += size
    entry[1] += 1
    entry[2] = max(entry[2], size)


def _sheet(device: str, total: int, found: list[list[Any]], notes: list[str]) -> Sheet:
    rows = [[where, name, what, size, size / max(1, total), n, big] for where, name, what, size, n, big in found]
    rows.sort(key=lambda row: -row[3])
    summed = sum(row[3] for row in rows)
    return Sheet(
        id="memory-lines",
        title=f"Memory of lines at the peak of {device}",
        columns=_COLUMNS,
        rows=rows,
        sort="bytes",
        checks=[
            Check(name="lines sum to the peak", got=summed, expected=total, unit="bytes", ok=summed == total),
        ],
        notes=notes,
    )


_COLUMNS = [
    Column(
        key="where",
        label="Line",
        unit="line",
        help="Your line that allocated it; in backward, the line of its forward.",
    ),
    Column(key="function", label="Function", help="The function the line is in, where known."),
    Column(key="category", label="Category", help="What the blocks are, where known."),
    Column(key="bytes", label="Bytes", unit="bytes", help="In use at the peak."),
    Column(key="share", label="Share", unit="share", help="Of the device's peak."),
    Column(key="blocks", label="Blocks", unit="count", help="The number of blocks."),
    Column(key="largest_bytes", label="Largest", unit="bytes", help="The largest block."),
]
