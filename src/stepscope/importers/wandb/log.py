"""A `run-*.wandb` file: records in blocks of 32 KiB, like LevelDB's log, each part with its CRC-32.

A record that does not fit into the rest of a block is split into a first, middle and last part. So reading can
continue at the block after the damage, and only the damaged block is lost.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Generator, Iterator
from pathlib import Path

from stepscope.errors import BadData
from stepscope.files.opening import open_file

BLOCK = 32768
START = 7
"""The first record follows `:W&B`, two bytes of magic and a version."""
_MAGIC = b":W&B\xe1\xbe"
_PART = struct.Struct("<IHB")
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
_SEEDS = [zlib.crc32(bytes([kind])) for kind in range(_LAST + 1)]
_READ = 64 * BLOCK
_BAD = (0, b"")


class LogFile:
    """Reads one file incrementally. `at` is the start of the first unread record."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.at = START
        self.lost: list[str] = []
        """What could not be read, in words; the owner clears it."""

    def check(self) -> bool:
        """Whether it is such a file; False while it is too short to tell; `BadData` if it is something else."""
        with open_file(self.path, within=self.path.parent) as stream:
            head = stream.read(START)
        if len(head) < START and _MAGIC.startswith(head[:6]):
            return False
        if head[:6] != _MAGIC:
            raise BadData(f"{self.path} does not start like a W&B file")
        if head[6] != 0:
            raise BadData(f"{self.path} has W&B file version {head[6]}; the newest supported version is 0")
        return True

    def records(self) -> Iterator[bytes]:
        """Complete records from `at` on. An incomplete or invalid end is "not yet"; an invalid middle is skipped and
        reported.
        """
        with open_file(self.path, within=self.path.parent) as stream:
            stream.seek(self.at)
            data, begin = b"", self.at
            while more := stream.read(_READ):
                data += more
                used = yield from self._in(data, begin)
                data, begin = data[used:], begin + used

    def _in(self, data: bytes, begin: int) -> Generator[bytes, None, int]:
        """The records of a block that begins at `begin`; returns how much of it need not be read again."""
        parts: list[bytes] = []
        first = at = 0
        while True:
            room = BLOCK - (begin + at) % BLOCK
            if room < START:  # too short for a part: padding
                at += room
                continue
            if not parts:
                first = at
            part = _part(data, at, room)
            if part is None or (part is _BAD and at + room >= len(data)):  # still being written, or never finished
                return first
            if part is _BAD:
                self._lose(begin + first, begin + at + room)
                at, parts = at + room, []
                continue
            kind, content = part
            if parts and kind in (_FULL, _FIRST):  # the rest of the previous record is missing
                self._lose(begin + first, begin + at)
                parts = []
                continue
            at += START + len(content)
            if not parts and kind in (_MIDDLE, _LAST):  # the rest of a record whose beginning is lost
                self._lose(begin + first, begin + at)
                continue
            parts.append(content)
            if kind in (_FULL, _LAST):
                self.at = begin + at
                yield content if kind == _FULL else b"".join(parts)
                parts = []

    def _lose(self, start: int, end: int) -> None:
        self.lost.append(f"{self.path}: {end - start:,} bytes at {start:,} are damaged and were skipped")
        self.at = end


def _part(data: bytes, at: int, room: int) -> tuple[int, bytes] | None:
    """The kind and content of the part at `at`; None if it is incomplete; `_BAD` if it is damaged."""
    if at + START > len(data):
        return None
    crc, length, kind = _PART.unpack_from(data, at)
    if not _FULL <= kind <= _LAST or length + START > room:
        return _BAD
    end = at + START + length
    if end > len(data):
        return None
    content = data[at + START : end]
    return (kind, content) if zlib.crc32(content, _SEEDS[kind]) == crc else _BAD
