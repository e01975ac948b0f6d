"""Opens memory snapshots: those that torch dumps as pickles, and the ones of our profiles."""

from __future__ import annotations

from pathlib import Path

import msgspec

from stepscope.errors import BadData
from stepscope.files.decoding import MALFORMED
from stepscope.files.opening import read_file
from stepscope.profile.memory.plain_pickle import read_plain_pickle
from stepscope.profile.memory.snapshot import MemorySnapshot, snapshot_of

_MOST_BYTES = 1 << 30


# Made here and not on first use, which two threads could make at once: msgspec (0.22) then ends the process.
_snapshot_decoder = msgspec.msgpack.Decoder(MemorySnapshot)


def read_snapshot(path: Path) -> MemorySnapshot:
    """The snapshot in `snapshot.pickle`, as torch.cuda.memory._dump_snapshot() writes it; nothing in it is run."""
    size = path.stat().st_size
    if size > _MOST_BYTES:
        raise BadData(
            f"{path} has {size:,} bytes; snapshots up to {_MOST_BYTES:,} are read. "
            "Record a shorter history: torch.cuda.memory._record_memory_history(max_entries=100000)"
        )
    return snapshot_of(read_plain_pickle(read_file(path, _MOST_BYTES), str(path)))


def decode_snapshot(raw: bytes) -> MemorySnapshot:
    """The snapshot of a profile."""
    try:
        found = _snapshot_decoder.decode(raw)
    except MALFORMED as fault:
        raise BadData(f"the memory snapshot of the profile is damaged: {fault}") from None
    history, blocks = found.history, found.blocks
    for group in (history, blocks):
        if len({len(getattr(group, column)) for column in group.__struct_fields__}) > 1:
            raise BadData("the memory snapshot of the profile is damaged: its columns differ in length")
    points = (
        ([*history.stack, *blocks.stack], found.stacks),
        ([frame for stack in found.stacks for frame in stack], found.frames),
        ([one for file, _, function in found.frames for one in (file, function)], found.names),
    )
    for numbers, into in points:
        if min(numbers, default=0) < 0 or max(numbers, default=-1) >= len(into):
            raise BadData("the memory snapshot of the profile is damaged: it points outside of itself")
    return found
