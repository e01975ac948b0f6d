"""Frames: the checksummed units of every log file. docs/design/001-the-run-folder.md explains why.

    offset  size  field
    0       2     magic  f5 53
    2       1     kind
    3       1     flags  (none yet; 0)
    4       4     length of the payload, little endian
    8       4     sequence number, from 0 in each file
    12      4     CRC-32 of bytes 0..11 and the payload
    16      n     payload

A row of scalars is `keyset u32, ticks u32, step i64, value f64 * n`: 32 + 8n bytes with the header, all aligned
to eight, so that a reader can view thousands of them as one numpy array.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from struct import Struct
from typing import NamedTuple
from zlib import crc32

MAGIC = b"\xf5S"
HEADER = Struct("<2sBBIII")
_SIGNED = Struct("<2sBBII")  # the part of the header that the checksum covers
ROW = Struct("<IIq")
TICK = 1e-4
"""Seconds per tick of a row's clock; 32 bits last almost five days, far longer than a segment lives."""
MAX_PAYLOAD = 64 << 20
"""A longer length means a damaged header: no frame is that large (files and large media are blobs)."""


class Kind(IntEnum):
    """What a frame contains. Readers skip unknown numbers."""

    HEADER = 1  # msgpack FileHeader: the first frame of a file, repeated in each stretch and before the seal
    DEFINE = 2  # msgpack [keyset id, [names]]: before a keyset's first row, again in each stretch and before the seal
    ROW = 3  # ROW then float64 values, one per name of the keyset
    MEDIA = 4  # msgpack Media
    BYTES = 5  # sha256 (32 bytes) then the bytes: only in files of kind "media"
    EVENT = 6  # msgpack Event
    HEARTBEAT = 7  # float64 unix time
    SEAL = 8  # empty: this file is complete; a segment with the next number may follow
    CONSOLE = 9  # msgpack Console
    CHUNK = 10  # columns of one series, made by compaction (runs/compact/compact.py)
    META = 12  # the bytes of meta.json, behind the header of each points file of a run's own process
    WIDE = 11  # a row with integers beyond 2**53 or other values that do not fit a float64, as msgpack


class Frame(NamedTuple):
    kind: int
    seq: int
    payload: memoryview
    start: int
    end: int


class Hole(NamedTuple):
    """Bytes that are not a valid frame, followed by a valid one."""

    start: int
    end: int


def encode(kind: int, seq: int, payload: bytes) -> bytes:
    """One frame, ready for a single write."""
    signed = _SIGNED.pack(MAGIC, kind, 0, len(payload), seq)
    return b"".join((signed, crc32(payload, crc32(signed)).to_bytes(4, "little"), payload))


def decode_at(data: memoryview, start: int) -> Frame | None:
    """The frame at `start`, or None if there is no complete valid one."""
    if len(data) - start < HEADER.size:
        return None
    magic, kind, _flags, length, seq, crc = HEADER.unpack_from(data, start)
    end = start + HEADER.size + length
    if magic != MAGIC or length > MAX_PAYLOAD or end > len(data):
        return None
    payload = data[start + HEADER.size : end]
    if crc32(payload, crc32(data[start : start + 12])) != crc:
        return None
    return Frame(kind, seq, payload, start, end)


def scan(data: bytes, start: int = 0) -> Iterator[Frame | Hole]:
    """All valid frames from `start`; damage followed by a valid frame is returned as a `Hole`.

    Stops silently at an incomplete tail: it may still be being written, so the caller tries again from the
    last frame's end. Correct for any bytes; the fast path for rows is in `runs/read/logs.py`.
    """
    view = memoryview(data)
    position = start
    while True:
        frame = decode_at(view, position)
        if frame is None:
            frame = _next_valid(data, view, position + 1)
            if frame is None:
                return
            yield Hole(position, frame.start)
        yield frame
        position = frame.end


def _next_valid(data: bytes, view: memoryview, start: int) -> Frame | None:
    at = data.find(MAGIC, start)
    while at >= 0:
        frame = decode_at(view, at)
        if frame is not None:
            return frame
        at = data.find(MAGIC, at + 1)
    return None
