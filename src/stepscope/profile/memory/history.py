"""CUDA's history of allocations as blocks with their lives, each with the stack that made it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.memory.snapshot import ACTIONS, MemorySnapshot
from stepscope.profile.trace.python_names import is_library_file

Ints = npt.NDArray[Any]

_ALLOC, _FREE = ACTIONS.index("alloc"), ACTIONS.index("free_requested")


@dataclass(frozen=True)
class History:
    """The blocks of one device."""

    device: int
    bytes: Ints
    """As handed out. The history says what was asked for; the allocator rounds that up to 512."""
    begin_ns: Ints
    """-1: before the history begins."""
    end_ns: Ints
    """-1: still there when the snapshot was taken."""
    stack: Ints

    def curve(self) -> tuple[Ints, Ints, int]:
        """Times, bytes in use after each, and bytes in use before the first."""
        before = int(self.bytes[self.begin_ns < 0].sum())
        new, gone = self.begin_ns >= 0, self.end_ns >= 0
        at = np.concatenate([self.begin_ns[new], self.end_ns[gone]])
        change = np.concatenate([self.bytes[new], -self.bytes[gone]])
        # Of what happens at one microsecond, frees come first: the allocator cannot hand out what is not free yet.
        order = np.lexsort((change, at))
        return at[order], before + np.cumsum(change[order]), before

    def peak(self) -> tuple[int, int, Ints]:
        """When most was in use (-1: before the history), how much, and which blocks were there."""
        at, used, before = self.curve()
        if not len(used) or before >= int(used.max()):
            return -1, before, np.flatnonzero(self.begin_ns < 0)
        when = int(at[int(np.argmax(used))])
        live = (self.begin_ns <= when) & ((self.end_ns < 0) | (self.end_ns > when))
        return when, int(used.max()), np.flatnonzero(live)


def history_of(snapshot: MemorySnapshot) -> list[History]:
    """The blocks of each device that has any, the device with the most reserved first."""
    devices = sorted({*snapshot.history.device, *snapshot.blocks.device})
    found = [_of_device(snapshot, device) for device in devices]
    return sorted((one for one in found if len(one.bytes)), key=lambda one: -snapshot.reserved.get(one.device, 0))


def _of_device(snapshot: MemorySnapshot, device: int) -> History:
    columns = snapshot.history
    size: list[int] = []
    begin: list[int] = []
    end: list[int] = []
    stack: list[int] = []
    open_at: dict[int, int] = {}
    for on, action, address, bytes_, at, made_by in zip(
        columns.device, columns.action, columns.address, columns.bytes, columns.at_ns, columns.stack, strict=True
    ):
        if on != device or action not in (_ALLOC, _FREE):
            continue
        if action == _ALLOC:
            open_at[address] = len(size)
            size.append(_rounded(bytes_))
            begin.append(at)
            end.append(-1)
            stack.append(made_by)
        elif address in open_at:
            end[open_at.pop(address)] = at
        else:  # from before the history
            size.append(_rounded(bytes_))
            begin.append(-1)
            end.append(at)
            stack.append(0)
    blocks = snapshot.blocks
    for on, address, bytes_, made_by in zip(blocks.device, blocks.address, blocks.bytes, blocks.stack, strict=True):
        if on != device:
            continue
        if address in open_at:
            size[open_at[address]] = bytes_  # the allocator's own number, not ours
            continue
        size.append(bytes_)
        begin.append(-1)
        end.append(-1)
        stack.append(made_by)
    return History(device, *(np.array(column, np.int64) for column in (size, begin, end, stack)))


def _rounded(size: int) -> int:
    return max(512, -(-size // 512) * 512)


def own_frame(snapshot: MemorySnapshot, stack: int, *, strict: bool = False) -> tuple[str, int, str] | None:
    """The innermost frame of a stack in the user's own files; else, unless `strict`, the outermost with a file."""
    frames = [snapshot.frames[i] for i in snapshot.stacks[stack]]
    named = [(snapshot.names[file], line, snapshot.names[function]) for file, line, function in frames]
    for frame in named:
        if frame[0].endswith(".py") and not is_library_file(frame[0]) and "/stepscope/" not in frame[0]:
            return frame
    return None if strict else next((frame for frame in reversed(named) if frame[0]), None)
