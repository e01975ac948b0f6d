"""The protocol buffers wire format: a message is a sequence of fields, each a number, a type and a value. No schema is
needed.

varint          int, as an unsigned 64-bit number (`signed` turns it into what an int64 field holds)
fixed64/fixed32 8 or 4 bytes, little endian
length          bytes: text, raw bytes, another message, or packed numbers
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stepscope.errors import BadData

Pairs = list[tuple[int, "int | bytes"]]

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
_WIDTH = {FIXED64: 8, FIXED32: 4}
_double = struct.Struct("<d")
_float = struct.Struct("<f")


class Span(NamedTuple):
    """The location of a field's value; `number` is the value itself if it is a varint."""

    field: int
    kind: int
    start: int
    end: int
    number: int


def spans(data: bytes | memoryview, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """The fields between two positions of `data`; `BadData` at the first invalid one."""
    at, stop = start, len(data) if end is None else end
    while at < stop:
        key, at = varint(data, at, stop)
        field, kind = key >> 3, key & 7
        number = 0
        if kind == VARINT:
            first = at
            number, at = varint(data, at, stop)
            yield Span(field, kind, first, at, number)
            continue
        if kind == LENGTH:
            size, at = varint(data, at, stop)
        elif kind in _WIDTH:
            size = _WIDTH[kind]
        else:
            raise BadData(f"a field of type {kind} at byte {at}; a message has only varints, fixed numbers and bytes")
        if field == 0 or size > stop - at:
            raise BadData(f"field {field} at byte {at} claims {size} bytes, but only {stop - at} are left")
        yield Span(field, kind, at, at + size, 0)
        at += size


def fields(data: bytes | memoryview) -> Iterator[tuple[int, int, int | memoryview]]:
    """Number, type and value of each field: an int for a varint, else the bytes.

    >>> [(number, kind) for number, kind, _ in fields(put_int(2, 300) + put_text(5, "loss"))]
    [(2, 0), (5, 2)]
    """
    view = memoryview(data)
    for span in spans(view):
        yield span.field, span.kind, span.number if span.kind == VARINT else view[span.start : span.end]


def pairs(data: bytes) -> Pairs:
    """Number and value of each field, all at once: for logs of very many small messages, where `fields` is slow.

    >>> pairs(put_int(2, 300) + put_text(5, "loss"))
    [(2, 300), (5, b'loss')]
    """
    found: Pairs = []
    at, end = 0, len(data)
    try:
        while at < end:
            key, at = data[at], at + 1
            if key > 127:
                key, at = varint(data, at - 1, end)
            kind = key & 7
            if kind in _WIDTH:
                size = _WIDTH[kind]
            elif kind in (LENGTH, VARINT):
                size, at = data[at], at + 1
                if size > 127:
                    size, at = varint(data, at - 1, end)
                if kind == VARINT:
                    found.append((key >> 3, size))
                    continue
            else:
                raise BadData(f"a field of type {kind} at byte {at}; a message has only varints, fixed numbers, bytes")
            start, at = at, at + size
            if at > end:
                raise BadData(f"field {key >> 3} at byte {start} claims {size} bytes, but only {end - start} are left")
            found.append((key >> 3, data[start:at]))
    except IndexError:
        raise BadData(f"the message ends within a number, at byte {at}") from None
    return found


def varint(data: bytes | memoryview, at: int, end: int) -> tuple[int, int]:
    """The varint at a position, and the position after it."""
    value = shift = 0
    while at < end:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7
        if shift > 63:
            raise BadData(f"a number of more than ten bytes at byte {at}")
    raise BadData(f"the message ends within a number, at byte {at}")


def signed(number: int) -> int:
    """An int64 or int32 field's value.

    >>> signed(2**64 - 1)
    -1
    """
    return number - (1 << 64) if number >= 1 << 63 else number


def zigzag(number: int) -> int:
    """A sint64 or sint32 field's value.

    >>> [zigzag(number) for number in range(4)]
    [0, -1, 1, -2]
    """
    return (number >> 1) ^ -(number & 1)


def text_of(data: int | bytes | memoryview) -> str:
    """A string field; invalid UTF-8 stays visible instead of being an error."""
    if isinstance(data, int):
        raise BadData(f"a number ({data}) where text was expected")
    return bytes(data).decode("utf-8", "backslashreplace")


def doubles(data: bytes | memoryview) -> npt.NDArray[np.float64]:
    """Packed doubles (or one)."""
    return _packed(data, "<f8").astype(np.float64)


def floats(data: bytes | memoryview) -> npt.NDArray[np.float32]:
    """Packed floats (or one)."""
    return _packed(data, "<f4").astype(np.float32)


def _packed(data: bytes | memoryview, kind: str) -> npt.NDArray[np.generic]:
    if len(data) % np.dtype(kind).itemsize:
        raise BadData(f"{len(data)} bytes are not a whole number of {kind[1:]} values")
    return np.frombuffer(data, dtype=kind)


def varints(data: bytes | memoryview) -> npt.NDArray[np.uint64]:
    """Packed varints, all at once.

    >>> varints(bytes([1, 172, 2])).tolist()
    [1, 300]
    """
    raw = np.frombuffer(data, dtype=np.uint8)
    if not len(raw):
        return np.empty(0, dtype=np.uint64)
    last = raw < 128
    if not last[-1]:
        raise BadData("the message ends within a number")
    ends = np.flatnonzero(last)
    starts = np.concatenate(([0], ends[:-1] + 1))
    if int((ends - starts).max()) >= 10:
        raise BadData("a packed number of more than ten bytes")
    place = np.arange(len(raw)) - np.repeat(starts, ends - starts + 1)
    parts = (raw & 127).astype(np.uint64) << (place * 7).astype(np.uint64)
    return np.add.reduceat(parts, starts)


# -- writing ---------------------------------------------------------------------------------------------------


def _varint_bytes(number: int) -> bytes:
    out = bytearray()
    number &= 0xFFFFFFFFFFFFFFFF
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def put_int(field: int, number: int) -> bytes:
    """An int, bool or enum field; omitted if it is 0, as in protobuf."""
    return _varint_bytes(field << 3) + _varint_bytes(number) if number else b""


def put_double(field: int, number: float) -> bytes:
    packed = _double.pack(number)
    return _varint_bytes(field << 3 | FIXED64) + packed if packed != bytes(8) else b""


def put_float(field: int, number: float) -> bytes:
    """A float field, written even if it is 0: in a oneof that is a value. Values out of range become infinite."""
    try:
        packed = _float.pack(number)
    except OverflowError:
        packed = _float.pack(math.copysign(math.inf, number))
    return _varint_bytes(field << 3 | FIXED32) + packed


def put_bytes(field: int, data: bytes) -> bytes:
    """Bytes or a message, written even if empty."""
    return _varint_bytes(field << 3 | LENGTH) + _varint_bytes(len(data)) + data


def put_text(field: int, text: str) -> bytes:
    """A string field; omitted if empty."""
    return put_bytes(field, text.encode("utf-8", "backslashreplace")) if text else b""


def put_packed(field: int, numbers: npt.ArrayLike, kind: str) -> bytes:
    """Packed floats ("<f4") or doubles ("<f8")."""
    return put_bytes(field, np.ascontiguousarray(numbers, dtype=kind).tobytes())


def message(field: int, parts: Iterable[bytes]) -> bytes:
    """A message as a field of another."""
    return put_bytes(field, b"".join(parts))
