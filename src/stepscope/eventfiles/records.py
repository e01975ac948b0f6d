"""The records of an event file: a length, its checksum, the bytes, their checksum, one after the other.

    u64 length    u32 masked CRC-32C of the length    bytes    u32 masked CRC-32C of the bytes

A file is read in blocks of complete records. An incomplete record at the end means "not yet"; invalid bytes followed
by a valid record are a hole, skipped and reported. Only data with a correct checksum is used.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct
from typing import IO

import numpy as np
import numpy.typing as npt

from stepscope.eventfiles.crc32c import masked, masked_many, masked_rows
from stepscope.files.opening import open_file, read_window

BLOCK = 8 << 20
MAX_RECORD = 512 << 20
"""Longer records are skipped and reported."""
_HEAD, _FOOT = 12, 4
_TOGETHER = 512
"""Records up to this size are processed together with others of their size."""
_FEW = 8
_FIRST = 4096
_length = Struct("<Q")
_sum = Struct("<I")

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Group:
    """Records of one size: their positions in the batch, and their bytes as a matrix."""

    order: Places
    rows: Bytes


@dataclass
class Batch:
    """Some consecutive valid records of a file."""

    groups: list[Group] = field(default_factory=list)
    singles: list[tuple[int, bytes]] = field(default_factory=list)
    """The others, each with its position."""
    count: int = 0


class RecordFile:
    """One file that may still grow. `read` returns what is new; `offset` is where the next call continues."""

    def __init__(self, path: Path, offset: int = 0) -> None:
        self.path = path
        self.offset = offset
        self.left = 0
        """Number of bytes at the end that are not a complete record (yet)."""
        self._searched = 0
        self._size = -1
        self._troubles: list[str] = []

    def troubles(self) -> list[str]:
        """What could not be read since the last call, one line each."""
        told, self._troubles = self._troubles, []
        return told

    def read(self) -> Batch | None:
        """The next records, about a block of them; None if there are no more for now."""
        size = os.stat(self.path).st_size
        if size == self._size and self.left == size - self.offset:
            return None
        if size < self.offset:
            if size != self._size:
                self._say(
                    f"is shorter ({size:,} bytes) than what was already read ({self.offset:,}); new content is ignored"
                )
            self._size, self.left = size, size - self.offset
            return None
        with open_file(self.path, within=self.path.parent, buffering=0) as file:
            batch = self._next(file, size)
        if batch is None:
            self._size, self.left = size, size - self.offset
        return batch

    def _next(self, file: IO[bytes], size: int) -> Batch | None:
        want = BLOCK
        while self.offset < size:
            data = _read_at(file, self.offset, min(want, size - self.offset))
            starts, sizes, end = _chain(data)
            if len(starts):
                batch = self._checked(data, starts, sizes)
                self.offset += end
                return batch
            claimed = _claimed(data)
            if claimed is None:  # not a record header: one may follow, or the rest may come later
                if not self._step_over(file, size):
                    return None
            elif claimed > MAX_RECORD:
                if self.offset + _HEAD + claimed + _FOOT > size:
                    return None
                self._say(f"has a record of {claimed:,} bytes at byte {self.offset:,}, which is too large to read")
                self.offset += _HEAD + claimed + _FOOT
            elif self.offset + _HEAD + claimed + _FOOT > size:
                return None  # not yet
            else:
                want = _HEAD + claimed + _FOOT
        return None

    def _step_over(self, file: IO[bytes], size: int) -> bool:
        """Find the next valid record after invalid bytes."""
        at = max(self.offset + 1, self._searched)
        while at < size:
            data = _read_at(file, at, min(BLOCK, size - at))
            for place in _heads(data):
                if _is_record(file, at + place, size):
                    count = at + place - self.offset
                    self._say(f"has {count:,} bytes at byte {self.offset:,} that are not records; they were skipped")
                    self.offset, self._searched = at + place, 0
                    return True
            if at + len(data) >= size:
                break
            at += max(1, len(data) - _HEAD + 1)
        self._searched = max(self.offset + 1, size - _HEAD + 1)
        return False

    def _checked(self, data: bytes, starts: Places, sizes: Places) -> Batch:
        """The records with valid bytes; the positions of the others are reported."""
        batch = Batch(count=len(starts))
        raw = np.frombuffer(data, dtype=np.uint8)
        bad: list[int] = []
        by_size = np.argsort(sizes, kind="stable")
        singles: list[int] = []
        for order in np.split(by_size, np.flatnonzero(np.diff(sizes[by_size])) + 1):
            size = int(sizes[order[0]])
            if size > _TOGETHER or len(order) < _FEW:
                singles.extend(order.tolist())
                continue
            rows = np.lib.stride_tricks.sliding_window_view(raw, size + _FOOT)[starts[order]]
            sound = masked_rows(rows[:, :size]) == np.ascontiguousarray(rows[:, size:]).view("<u4")[:, 0]
            if not sound.all():
                bad.extend(order[~sound].tolist())
                order, rows = order[sound], rows[sound]
            batch.groups.append(Group(order, rows[:, :size]))
        for place, record, sound in _sound_records(data, sorted(singles), starts, sizes):
            if sound:
                batch.singles.append((place, record))
            else:
                bad.append(place)
        self._tell_of_damage(sorted(bad), starts)
        return batch

    def _tell_of_damage(self, bad: list[int], starts: Places) -> None:
        for place in bad[:3]:
            self._say(f"has a damaged record at byte {self.offset + int(starts[place]) - _HEAD:,}; it was skipped")
        if len(bad) > 3:
            self._say(f"has {len(bad) - 3:,} more damaged records near byte {self.offset:,}; they were skipped")

    def _say(self, what: str) -> None:
        self._troubles.append(f"{self.path}: {what}")


def encode_record(data: bytes) -> bytes:
    """One record, ready to be appended to a file."""
    head = _length.pack(len(data))
    return b"".join((head, _sum.pack(masked(head)), data, _sum.pack(masked(data))))


def first_records(path: Path) -> list[bytes]:
    """The valid records in the first few kilobytes of a file."""
    with open_file(path, within=path.parent) as file:
        data = read_window(file, 0, _FIRST)
    starts, sizes, _ = _chain(data)
    records = []
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        record = data[start : start + size]
        if masked(record) == _sum.unpack_from(data, start + size)[0]:
            records.append(record)
    return records


def _read_at(file: IO[bytes], at: int, count: int) -> bytes:
    file.seek(at)
    parts = []
    while count and (part := file.read(count)):
        parts.append(part)
        count -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _sound_records(data: bytes, places: list[int], starts: Places, sizes: Places) -> Iterator[tuple[int, bytes, bool]]:
    """Records that are processed one by one, with whether their checksum is right."""
    records = [
        data[start : start + size] for start, size in zip(starts[places].tolist(), sizes[places].tolist(), strict=True)
    ]
    for place, record, total in zip(places, records, masked_many(records), strict=True):
        yield place, record, total == _sum.unpack_from(data, int(starts[place]) + len(record))[0]


def _chain(data: bytes) -> tuple[Places, Places, int]:
    """The complete records at the beginning of `data` with valid lengths: starts, sizes, and the end."""
    found: list[int] = []
    at, stop = 0, len(data) - _HEAD - _FOOT
    unpack, add = _length.unpack_from, found.append
    while at <= stop:
        add(at)
        at += _HEAD + _FOOT + unpack(data, at)[0]
    if at > len(data):
        found.pop()  # the last one is incomplete
    heads = np.array(found, dtype=np.int64)
    if not len(heads):
        return heads, heads, 0
    raw = np.lib.stride_tricks.sliding_window_view(np.frombuffer(data, dtype=np.uint8), _HEAD)[heads]
    sound = masked_rows(raw[:, :8]) == np.ascontiguousarray(raw[:, 8:]).view("<u4")[:, 0]
    if not sound.all():
        heads = heads[: int(np.argmin(sound))]
        raw = raw[: len(heads)]
    sizes = np.ascontiguousarray(raw[:, :8]).view("<i8")[:, 0]
    end = int(heads[-1] + sizes[-1]) + _HEAD + _FOOT if len(heads) else 0
    return heads + _HEAD, sizes, end


def _claimed(data: bytes) -> int | None:
    """The length in a record's header; None if it is not a header."""
    if len(data) < _HEAD or masked(data[:8]) != _sum.unpack_from(data, 8)[0]:
        return None
    length: int = _length.unpack_from(data)[0]
    return length


def _heads(data: bytes) -> list[int]:
    """Every position that looks like a record header."""
    if len(data) < _HEAD:
        return []
    windows = np.lib.stride_tricks.sliding_window_view(np.frombuffer(data, dtype=np.uint8), _HEAD)
    found: list[int] = []
    for start in range(0, len(windows), 1 << 20):
        part = windows[start : start + (1 << 20)]
        stored = np.ascontiguousarray(part[:, 8:]).view("<u4")[:, 0]
        found.extend((np.flatnonzero(masked_rows(part[:, :8]) == stored) + start).tolist())
    return found


def _is_record(file: IO[bytes], at: int, size: int) -> bool:
    """Whether a complete valid record is there."""
    length = _claimed(_read_at(file, at, _HEAD))
    if length is None or length > MAX_RECORD or at + _HEAD + length + _FOOT > size:
        return False
    data = _read_at(file, at + _HEAD, length + _FOOT)
    return len(data) == length + _FOOT and masked(data[:length]) == int(_sum.unpack_from(data, length)[0])
