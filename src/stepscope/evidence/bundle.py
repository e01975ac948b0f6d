"""All tables of one process as one file: checksummed, compressed, put in place whole.

    magic (4) · version (u16) · length of the rest unpacked (u32) · CRC-32 of what follows (u32) · zlib

Unpacked it is what `codec` writes, of a `Bundle`. A table whose version is not today's is left out when it is read:
rules that need it are not asked.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stepscope.errors import BadData
from stepscope.evidence.codec import decode, encode
from stepscope.evidence.registry import record, records, tables

__all__ = ["FOLDER", "MOST_BYTES", "Bundle", "pack", "unpack"]

FOLDER = "evidence"
"""Of a run: one file for each process that was watched."""
MOST_BYTES = 4 << 20
"""Of one file. What is larger is not written."""
_MOST_UNPACKED = 128 << 20
_HEAD = struct.Struct(">4sHII")
_MAGIC, _VERSION = b"SSEV", 1


@record
@dataclass(eq=False)
class Bundle:
    """What one process has seen."""

    tables: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    """The text of the project's own files that ran, by path."""
    rank: int = 0
    script: str = ""
    stepscope: str = ""


def pack(bundle: Bundle, text: Callable[[str], str] | None = None, *, strict: bool = False) -> bytes:
    """The bytes of a file; `text` is asked for every string of some length, to mask secrets in it."""
    known = tables()
    bundle.versions = {name: known[name].version for name in bundle.tables}
    plain = encode(bundle, records(), text=text, strict=strict)
    packed = zlib.compress(plain, 6)
    return _HEAD.pack(_MAGIC, _VERSION, len(plain), zlib.crc32(packed)) + packed


def unpack(data: bytes) -> Bundle:
    """What `pack` was given, without the tables of other versions; raises `BadData` where the bytes are not its own."""
    if len(data) < _HEAD.size:
        raise BadData(f"this is no evidence: {len(data)} bytes are too few")
    magic, version, length, checksum = _HEAD.unpack_from(data)
    packed = memoryview(data)[_HEAD.size :]
    if magic != _MAGIC or version != _VERSION:
        raise BadData(f"this is no evidence of version {_VERSION}: it begins with {bytes(data[:6])!r}")
    if length > _MOST_UNPACKED or zlib.crc32(packed) != checksum:
        raise BadData("this evidence is damaged: its checksum does not match")
    unpacker = zlib.decompressobj()
    plain = unpacker.decompress(packed, length + 1)
    bundle = decode(plain, records()) if len(plain) == length else None
    if not isinstance(bundle, Bundle):
        raise BadData("this evidence is damaged: it does not unpack to what was written")
    bundle.tables = _of_today(bundle.tables, bundle.versions)
    return bundle


def _of_today(found: Mapping[str, Any], versions: Mapping[str, int]) -> dict[str, Any]:
    known = tables()
    return {
        name: value
        for name, value in found.items()
        if name in known and known[name].version == versions.get(name) and isinstance(value, known[name].kind)
    }
