"""The wire format of protocol buffers, as far as logs need it: numbered fields in a row of bytes.

What a field means is the reader's business; unknown ones are simply not asked for, so newer writers do no harm.
"""

from __future__ import annotations

from stepscope.errors import BadData

__all__ = ["Fields", "fields", "signed", "zigzag"]

Fields = list[tuple[int, "int | bytes"]]
"""(number, value): a varint as an int, everything else as its bytes (8, 4, or as many as it says)."""

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def fields(data: bytes) -> Fields:
    """The fields of one message, in order; `BadData` when the bytes are no message.

    >>> fields(b"\\x08\\x96\\x01\\x12\\x02hi")
    [(1, 150), (2, b'hi')]
    """
    found: Fields = []
    add = found.append
    at, end = 0, len(data)
    try:
        while at < end:
            tag = data[at]
            at += 1
            if tag > 127:
                tag, at = _varint(data, at - 1)
            kind = tag & 7
            if kind == BYTES or kind == VARINT:
                size = data[at]
                at += 1
                if size > 127:
                    size, at = _varint(data, at - 1)
                if kind == VARINT:
                    add((tag >> 3, size))
                    continue
            elif kind == FIXED64:
                size = 8
            elif kind == FIXED32:
                size = 4
            else:
                raise BadData(f"a protocol buffer with a field of kind {kind}; expected 0, 1, 2 or 5")
            start, at = at, at + size
            if at > end:
                raise BadData(f"a protocol buffer's field of {size} bytes goes beyond its end")
            add((tag >> 3, data[start:at]))
    except IndexError:
        raise BadData("a protocol buffer that ends in the middle of a number") from None
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number in groups of seven bits, lowest first, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise BadData("a protocol buffer with a number of more than 64 bits")


def signed(value: int) -> int:
    """An int32 or int64 field: negative numbers are written as 64 bits, two's complement."""
    return value - (1 << 64) if value >> 63 else value


def zigzag(value: int) -> int:
    """A sint32 or sint64 field.

    >>> [zigzag(value) for value in range(4)]
    [0, -1, 1, -2]
    """
    return (value >> 1) ^ -(value & 1)
