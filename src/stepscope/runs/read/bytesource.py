"""The bytes of a log file from the reader's position, piece by piece, never more than are on disk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from stepscope.runs.format.frames import HEADER, MAGIC, MAX_PAYLOAD, Frame, decode_at

PIECE = 16 << 20


class ByteSource:
    """Frames and pieces of an open file, by file position."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self.size = size
        self.base = 0
        self.data = b""

    def load(self, position: int, length: int) -> None:
        """Load `length` bytes from `position` into `data`; fewer only at the end of the file."""
        length = min(length, self.size - position)
        if self.base <= position and position + length <= self.base + len(self.data):
            return
        wanted = max(min(PIECE, self.size - position), length)
        self._file.seek(position)
        self.base = position
        self.data = self._file.read(wanted)
        if len(self.data) < wanted:  # the file shrank while we read
            self.size = position + len(self.data)

    def frame(self, position: int) -> Frame | None:
        """The valid frame at `position`, if any. `start` and `end` are file positions."""
        claimed = self.claim(position)
        if claimed is None or claimed[2] > self.size:
            return None
        self.load(position, claimed[2] - position)
        found = decode_at(memoryview(self.data), position - self.base)
        return found and found._replace(start=found.start + self.base, end=found.end + self.base)

    def claim(self, position: int) -> tuple[int, int, int] | None:
        """The unchecked header at `position`: kind, sequence number, and end."""
        if self.size - position < HEADER.size:
            return None
        self.load(position, HEADER.size)
        if len(self.data) - (position - self.base) < HEADER.size:
            return None
        magic, kind, _flags, length, seq, _crc = HEADER.unpack_from(self.data, position - self.base)
        if magic != MAGIC or length > MAX_PAYLOAD:
            return None
        return kind, seq, position + HEADER.size + length

    def candidates(self, position: int) -> Iterator[int]:
        """Every position from `position` on where a frame could begin."""
        while self.size - position >= HEADER.size:
            self.load(position, HEADER.size)
            if len(self.data) - (position - self.base) < HEADER.size:
                return
            at = self.data.find(MAGIC, position - self.base)
            if at < 0:
                # the last byte may be the first half of a magic
                position = max(self.base + len(self.data) - 1, position + 1)
                continue
            position = self.base + at
            yield position
            position += 1
