"""Columns as few bytes: numbers narrowed and deflated, strings joined. And back, without trust in what a file says."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from stepscope.profile.trace.events import Ints

_MOST_DEFLATE_SAVES = 1032
"""To one: the most that deflate can unpack to (zlib's technical notes)."""
_WORTH = 0.4
"""What deflating must bring it down to: times hardly shrink, and inflating those would be what opening costs."""
_PLANES: dict[str, Any] = {"<u4+1": np.dtype("<u1"), "<u4+2": np.dtype("<u2")}
"""Numbers of five or six bytes: the low four of all of them, then what is above."""
_NARROW: tuple[np.dtype[Any], ...] = (np.dtype("<u1"), np.dtype("<u2"), np.dtype("<u4"))
_SEPARATOR = "\x00"


class Packed(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a block was made."""

    dtype: str
    """Of the stored numbers; "text" for strings joined by NUL, "json" for a list of strings that hold NULs."""
    count: int
    raw: int
    """Bytes when inflated."""
    bytes: int
    """Bytes in the file."""
    crc: int
    """Of those."""
    deflated: bool = False
    differences: bool = False
    base: int = 0
    """Added to every stored number; to the first one when they are differences."""
    step: int = 0
    """Added to every difference."""


def _stored(raw: bytes, **how: Any) -> tuple[Packed, bytes]:
    small = zlib.compress(raw, 1) if len(raw) > 64 else raw
    deflated = len(small) < _WORTH * len(raw)
    block = small if deflated else raw
    return Packed(raw=len(raw), bytes=len(block), crc=zlib.crc32(block), deflated=deflated, **how), block


def pack_numbers(values: Ints) -> tuple[Packed, bytes]:
    """The smaller of two ways: values less their minimum, or differences less theirs."""
    if values.dtype.kind == "f" or not len(values):
        return _stored(values.astype("<f8").tobytes(), dtype="<f8", count=len(values))
    wide = values.astype(np.int64)
    base, first = int(wide.min()), int(wide[0])
    plain = _width(int(wide.max()) - base)
    if len(wide) > 1:
        differences = np.diff(wide)
        step = int(differences.min())
        if _width(int(differences.max()) - step) < plain and _span(wide) < 1 << 63:
            dtype = _NARROW[_width(int(differences.max()) - step)]
            raw = (differences - step).astype(dtype).tobytes()
            return _stored(raw, dtype=dtype.str, count=len(wide), differences=True, base=first, step=step)
    if plain < len(_NARROW):
        raw = (wide - base).astype(_NARROW[plain]).tobytes()
        return _stored(raw, dtype=_NARROW[plain].str, count=len(wide), base=base)
    return _planes(wide, base) if _span(wide) < 1 << 48 else _stored(wide.tobytes(), dtype="<i8", count=len(wide))


def _planes(wide: Ints, base: int) -> tuple[Packed, bytes]:
    above = wide - base
    dtype = "<u4+1" if _span(wide) < 1 << 40 else "<u4+2"
    raw = (above & 0xFFFFFFFF).astype("<u4").tobytes() + (above >> 32).astype(_PLANES[dtype]).tobytes()
    return _stored(raw, dtype=dtype, count=len(wide), base=base)


def _span(wide: Ints) -> int:
    return int(wide.max()) - int(wide.min())


def _width(largest: int) -> int:
    """Which of the narrow types holds a number: 3 for none."""
    return next((i for i, dtype in enumerate(_NARROW) if largest < 1 << (8 * dtype.itemsize)), len(_NARROW))


def pack_strings(strings: Sequence[str]) -> tuple[Packed, bytes]:
    joined = _SEPARATOR.join(strings)
    if joined.count(_SEPARATOR) != max(0, len(strings) - 1):
        return _stored(msgspec.json.encode([_whole(one) for one in strings]), dtype="json", count=len(strings))
    return _stored(_whole(joined).encode(), dtype="text", count=len(strings))


def _whole(text: str) -> str:
    """Without halves of surrogate pairs, which no file or page can hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if not text.isascii() else text


def _inflated(how: Packed, block: memoryview) -> bytes | memoryview:
    if not how.deflated:
        raw: bytes | memoryview = block
    else:
        if how.raw > _MOST_DEFLATE_SAVES * len(block) + 64:
            raise ValueError(f"{len(block)} bytes cannot unpack to {how.raw}")
        raw = zlib.decompressobj().decompress(block, how.raw + 1)
    if len(raw) != how.raw:
        raise ValueError(f"it unpacks to {len(raw)} bytes instead of {how.raw}")
    return raw


def unpack_numbers(how: Packed, block: memoryview, dtype: Any) -> Ints:
    """What `pack_numbers` was given. ValueError when the description and the bytes do not fit together."""
    if how.dtype in _PLANES:
        return _unpack_planes(how, _inflated(how, block)).astype(dtype, copy=False)
    if how.dtype not in {"<u1", "|u1", "<u2", "<u4", "<i8", "<f8", "<u8"}:
        raise ValueError(f"unknown type {how.dtype!r}")
    stored = np.frombuffer(_inflated(how, block), how.dtype)
    if len(stored) != how.count - how.differences:
        raise ValueError(f"{len(stored)} numbers instead of {how.count}")
    if how.differences:
        wide = np.empty(how.count, np.int64)
        wide[0] = how.base
        np.cumsum(stored, dtype=np.int64, out=wide[1:])
        wide[1:] += how.base
        if how.step:
            wide[1:] += np.int64(how.step) * np.arange(1, how.count, dtype=np.int64)
        return wide.astype(dtype, copy=False)
    if how.base:
        return (stored.astype(np.int64) + how.base).astype(dtype, copy=False)
    return stored.astype(dtype)


def _unpack_planes(how: Packed, raw: bytes | memoryview) -> Ints:
    high = _PLANES[how.dtype]
    if how.count < 0 or len(raw) != how.count * (4 + high.itemsize):
        raise ValueError(f"{len(raw)} bytes are not {how.count} numbers")
    wide: Ints = np.frombuffer(raw, high, offset=4 * how.count).astype(np.int64)
    wide <<= 32
    wide += np.frombuffer(raw, "<u4", how.count)
    wide += how.base
    return wide


def unpack_strings(how: Packed, block: memoryview) -> list[str]:
    raw = bytes(_inflated(how, block))
    found: list[str] = []
    if how.dtype == "json":
        found = msgspec.json.decode(raw, type=list[str])
    elif how.dtype == "text" and how.count:
        found = raw.decode().split(_SEPARATOR)
    if len(found) != how.count:
        raise ValueError(f"{len(found)} strings instead of {how.count}")
    return found
