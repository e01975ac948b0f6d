"""Opens memory snapshots: those that torch dumps as pickles, and the ones of our profiles."""

from __future__ import annotations

from pathlib import Path

import msgspec

from stepscope.errors import BadData
from stepscope.profile.memory.plain_pickle import read_plain_pickle
from stepscope.profile.memory.snapshot import MemorySnapshot, snapshot_of

__all__ = ["decode_snapshot", "read_snapshot"]

_MOST_BYTES = 1 << 30


def read_snapshot(path: Path) -> MemorySnapshot:
    """The snapshot in `snapshot.pickle`, as torch.cuda.memory._dump_snapshot() writes it; nothing in it is run."""
    size = path.stat().st_size
    if size > _MOST_BYTES:
        raise BadData(
            f"{path} has {size:,} bytes; snapshots up to {_MOST_BYTES:,} are read. "
            "Record a shorter history: torch.cuda.memory._record_memory_history(max_entries=100000)"
        )
    return snapshot_of(read_plain_pickle(path.read_bytes(), str(path)))


def decode_snapshot(raw: bytes) -> MemorySnapshot:
    """The snapshot of a profile."""
    try:
        found = msgspec.msgpack.decode(raw, type=MemorySnapshot)
    except msgspec.MsgspecError as fault:
        raise BadData(f"the memory snapshot of the profile is damaged: {fault}") from None
    history, blocks = found.history, found.blocks
    lengths = {len(column) for column in (history.device, history.action, history.address, history.bytes, history.at_ns,
                                          history.stack)}  # fmt: skip
    others = {len(column) for column in (blocks.device, blocks.address, blocks.bytes, blocks.requested, blocks.stack)}
    stacks = max([*history.stack, *blocks.stack], default=0)
    frames = max((frame for stack in found.stacks for frame in stack), default=-1)
    names = max((one for file, _, function in found.frames for one in (file, function)), default=-1)
    if len(lengths) > 1 or len(others) > 1:
        raise BadData("the memory snapshot of the profile is damaged: its columns differ in length")
    if stacks >= len(found.stacks) or frames >= len(found.frames) or names >= len(found.names):
        raise BadData("the memory snapshot of the profile is damaged: it points outside of itself")
    return found
