"""CUDA's own account of its memory: every block with the stack that made it, and the history of allocations."""

from __future__ import annotations

from collections.abc import Mapping
from types import FrameType
from typing import Any

import msgspec

from stepscope.errors import BadData

ACTIONS = ("alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map",
           "segment_unmap", "snapshot", "oom", "other")  # fmt: skip
_OTHER = len(ACTIONS) - 1
_MOST = 1_000_000
_MOST_BLOCKS = 2_000_000
"""Parts of a pickle may occur in many places: what is small as a file can be endless to walk."""


class HistoryColumns(msgspec.Struct, kw_only=True):
    """One entry an allocation, a free or a change of segments, in the order of time."""

    device: list[int] = []
    action: list[int] = []
    """Into ACTIONS."""
    address: list[int] = []
    bytes: list[int] = []
    at_ns: list[int] = []
    """Unix; 0 where the snapshot has no times."""
    stack: list[int] = []


class BlockColumns(msgspec.Struct, kw_only=True):
    """The blocks in use when the snapshot was taken."""

    device: list[int] = []
    address: list[int] = []
    bytes: list[int] = []
    """As handed out: rounded up."""
    requested: list[int] = []
    stack: list[int] = []


class MemorySnapshot(msgspec.Struct, kw_only=True):
    """Columns, with text, frames and stacks kept once. Written as msgpack; never a pickle."""

    format: int = 1
    names: list[str] = []
    frames: list[tuple[int, int, int]] = []
    """File and function as numbers into `names`, with the line between them."""
    stacks: list[list[int]] = msgspec.field(default_factory=lambda: [[]])
    """Frames, the innermost first. The first stack is the empty one."""
    history: HistoryColumns = msgspec.field(default_factory=HistoryColumns)
    blocks: BlockColumns = msgspec.field(default_factory=BlockColumns)
    reserved: dict[int, int] = {}
    """By device: bytes of all its segments."""
    segments: dict[int, int] = {}
    """By device: how many there are."""
    left_out: int = 0
    """Entries of the history that were too many to keep, the oldest."""


class _Texts:
    """Frames and stacks, each kept once. A stack that many entries share is looked at once."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.frames: dict[tuple[int, int, int], int] = {}
        self.stacks: dict[tuple[int, ...], int] = {(): 0}
        self._seen: dict[int, int] = {}

    def stack(self, frames: Any) -> int:
        if not isinstance(frames, list) or not frames:
            return 0
        known = self._seen.get(id(frames))
        if known is None:
            found = tuple(self._frame(frame) for frame in frames[:256])
            known = self._seen[id(frames)] = self.stacks.setdefault(found, len(self.stacks))
        return known

    def _frame(self, frame: FrameType) -> int:
        if not isinstance(frame, Mapping):
            raise BadData("a frame of the memory snapshot is not a dictionary")
        file, function = (self._name(str(frame.get(key) or "")) for key in ("filename", "name"))
        line = frame.get("line")
        return self.frames.setdefault((file, line if isinstance(line, int) else 0, function), len(self.frames))

    def _name(self, text: str) -> int:
        return self.names.setdefault(text[:1000], len(self.names))


def snapshot_of(found: Any, most: int = _MOST) -> MemorySnapshot:
    """What `torch.cuda.memory._snapshot()` gave, as columns. `most`: how much of the history is kept, the newest."""
    if not isinstance(found, Mapping) or not isinstance(found.get("segments"), list):
        raise BadData(
            "this is not a memory snapshot: a dictionary with 'segments' was expected, as "
            "torch.cuda.memory._dump_snapshot() writes it"
        )
    texts, blocks = _Texts(), BlockColumns()
    reserved: dict[int, int] = {}
    segments: dict[int, int] = {}
    for segment in found["segments"]:
        device = _int(segment, "device")
        reserved[device] = reserved.get(device, 0) + _int(segment, "total_size")
        segments[device] = segments.get(device, 0) + 1
        _add_blocks(blocks, texts, segment, device)
        if len(blocks.address) > _MOST_BLOCKS or len(reserved) > 1000:
            raise BadData(f"the memory snapshot has more than {_MOST_BLOCKS:,} blocks, or more than 1,000 devices")
    history, left_out = _history(found.get("device_traces"), texts, most)
    return MemorySnapshot(
        names=list(texts.names),
        frames=list(texts.frames),
        stacks=[list(stack) for stack in texts.stacks],
        history=history,
        blocks=blocks,
        reserved=reserved,
        segments=segments,
        left_out=left_out,
    )


def _add_blocks(blocks: BlockColumns, texts: _Texts, segment: Mapping[str, Any], device: int) -> None:
    address = _int(segment, "address")
    for block in (segment.get("blocks") or ())[:_MOST_BLOCKS]:
        size = _int(block, "size")
        at = block.get("address")
        if block.get("state") == "active_allocated":
            blocks.device.append(device)
            blocks.address.append(at if isinstance(at, int) else address)
            blocks.bytes.append(size)
            wanted = block.get("requested_size")
            blocks.requested.append(wanted if isinstance(wanted, int) else size)
            blocks.stack.append(texts.stack(_frames(block)))
        address += size


def _frames(block: Mapping[str, Any]) -> Any:
    """Older snapshots keep the frames of a block in its `history`."""
    frames = block.get("frames")
    if frames:
        return frames
    history = block.get("history")
    if isinstance(history, list) and history and isinstance(history[0], Mapping):
        return history[0].get("frames")
    return None


def _history(traces: Any, texts: _Texts, most: int) -> tuple[HistoryColumns, int]:
    numbers = {action: i for i, action in enumerate(ACTIONS)}
    entries: list[tuple[int, int, int, int, int, int]] = []
    left_out = 0
    for device, trace in enumerate(traces if isinstance(traces, list) else ()):
        if not isinstance(trace, list):
            raise BadData("the history of the memory snapshot is not a list")
        left_out += max(0, len(trace) - most)
        if len(entries) + len(trace) > 4 * _MOST:
            raise BadData(f"the history of the memory snapshot has more than {4 * _MOST:,} entries")
        for entry in trace[-most:]:
            if not isinstance(entry, Mapping):
                raise BadData("an entry of the memory snapshot's history is not a dictionary")
            action = numbers.get(str(entry.get("action")), _OTHER)
            address = entry.get("addr")
            when = entry.get("time_us")
            entries.append(
                (
                    int(when) * 1000 if isinstance(when, int) else 0,
                    device,
                    action,
                    address if isinstance(address, int) else 0,
                    _int(entry, "size"),
                    texts.stack(entry.get("frames")),
                )
            )
    entries.sort(key=lambda entry: entry[0])
    columns: list[tuple[int, ...]] = list(zip(*entries, strict=True)) if entries else [()] * 6
    at, device_of, action_of, address_of, size_of, stack_of = (list(column) for column in columns)
    return HistoryColumns(
        at_ns=at, device=device_of, action=action_of, address=address_of, bytes=size_of, stack=stack_of
    ), left_out


def _int(found: Any, key: str) -> int:
    value = found.get(key) if isinstance(found, Mapping) else None
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= 1 << 63:
        raise BadData(f"the memory snapshot is damaged: {key!r} is {str(value)[:40]}, a whole number was expected")
    return value
