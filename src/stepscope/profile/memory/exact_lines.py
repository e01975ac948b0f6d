"""The exact line of each block of a trace, from CUDA's own history: both record the same allocations."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from stepscope.profile.memory.blocks import Blocks
from stepscope.profile.memory.history import own_frame
from stepscope.profile.memory.snapshot import ACTIONS, MemorySnapshot

_ALLOC = ACTIONS.index("alloc")
_NEAR_NS = 1_000_000
"""The two clocks differ by about a microsecond; an address that was reused is many of them away."""


def exact_lines(snapshot: MemorySnapshot, blocks: Blocks, files: Iterable[str]) -> dict[int, str]:
    """By block: the user's line that allocated it, where the history has one. `files`: the trace's names for files,
    which lack the folder they were found in."""
    made: dict[tuple[int, int], list[tuple[int, int]]] = {}
    history = snapshot.history
    for device, action, address, at, stack in zip(
        history.device, history.action, history.address, history.at_ns, history.stack, strict=True
    ):
        if action == _ALLOC:
            made.setdefault((device, address), []).append((at, stack))
    numbers = [int(name.split()[1]) if name.startswith("CUDA ") else -1 for name in (d.name for d in blocks.devices)]
    lines: dict[int, str | None] = {}
    short = sorted({file for file in files if file}, key=len, reverse=True)
    found: dict[int, str] = {}
    columns = (blocks.device.tolist(), blocks.address.tolist(), blocks.begin_ns.tolist())
    for i, (which, address, begin) in enumerate(zip(*columns, strict=True)):
        stack = _nearest(made.get((numbers[which], address)), begin)
        if stack not in lines:
            lines[stack] = _line(snapshot, stack, short)
        line = lines[stack]
        if line is not None:
            found[i] = line
    return found


def _nearest(entries: list[tuple[int, int]] | None, at: int) -> int:
    """The stack of the entry closest in time; 0, the empty one, where none is close."""
    if not entries or at < 0:
        return 0
    place = bisect_left(entries, (at, -1))
    when, stack = min(entries[max(0, place - 1) : place + 1], key=lambda entry: abs(entry[0] - at))
    return stack if abs(when - at) <= _NEAR_NS else 0


def _line(snapshot: MemorySnapshot, stack: int, files: list[str]) -> str | None:
    frame = own_frame(snapshot, stack, strict=True)
    if frame is None:
        return None
    file = next((short for short in files if frame[0].endswith("/" + short)), frame[0])
    return f"{file}:{frame[1]}"
