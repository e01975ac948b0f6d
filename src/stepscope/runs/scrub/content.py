"""The contents of a run's files without the secret: logs frame by frame, sealed JSON, blobs, anything else."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from stepscope.runs.format.frames import Frame, Kind, encode, scan
from stepscope.runs.format.sealed import seal_of, sealed
from stepscope.runs.scrub.needle import Needle

_PACKED = {Kind.HEADER, Kind.DEFINE, Kind.MEDIA, Kind.EVENT, Kind.CONSOLE, Kind.CHUNK, Kind.WIDE}
_LARGEST_UNPACKED = 256 << 20
_GZIP = b"\x1f\x8b"


class Blob(NamedTuple):
    """A blob's name and size after cleaning."""

    sha256: str
    size: int

    @classmethod
    def of(cls, content: bytes) -> Blob:
        return cls(hashlib.sha256(content).hexdigest(), len(content))


Renamed = dict[str, Blob]
"""By its previous hash."""


def clean_any(data: bytes, needle: Needle) -> tuple[bytes, int]:
    """A file other than a log. Sealed JSON is resealed; gzip is decompressed and recompressed."""
    if data[:2] == _GZIP:
        return _clean_gzip(data, needle)
    if data[:1] == b"{" and seal_of(data) == "sound":
        fields = json.loads(data)
        fields.pop("checksum", None)
        cleaned, count = _clean_value(fields, needle, {})
        return (sealed(msgspec.json.format(msgspec.json.encode(cleaned), indent=1)), count) if count else (data, 0)
    return needle.clean_bytes(data)


def _clean_gzip(data: bytes, needle: Needle) -> tuple[bytes, int]:
    unfold = zlib.decompressobj(31)
    try:
        plain = unfold.decompress(data, _LARGEST_UNPACKED)
    except zlib.error:
        return needle.clean_bytes(data)
    if not unfold.eof or unfold.unused_data:  # larger than the limit for unpacking: rewriting would truncate it
        return needle.clean_bytes(data)
    cleaned, count = needle.clean_bytes(plain)
    return (gzip.compress(cleaned, 6, mtime=0), count) if count else (data, 0)


def inline_blobs(log: bytes, needle: Needle) -> Iterator[tuple[str, bytes]]:
    """The blobs inside a media log that contain the secret: the hash of each, and its clean bytes."""
    for frame in scan(log):
        if isinstance(frame, Frame) and frame.kind == Kind.BYTES:
            cleaned, count = clean_any(bytes(frame.payload[32:]), needle)
            if count:
                yield bytes(frame.payload[:32]).hex(), cleaned


def clean_log(log: bytes, needle: Needle, renamed: Renamed) -> tuple[bytes, int]:
    """A log with clean frames that refer to the clean blobs. Other frames stay identical."""
    parts: list[bytes] = []
    total = 0
    end = 0
    for piece in scan(log):
        raw = log[piece.start : piece.end]
        payload, count = _clean_payload(piece, needle, renamed) if isinstance(piece, Frame) else needle.clean_bytes(raw)
        if count and isinstance(piece, Frame):
            raw = encode(piece.kind, piece.seq, payload)
        elif count:  # a damaged range: unreadable, so zero it
            raw = bytes(len(raw))
        parts.append(raw)
        total += count
        end = piece.end
    tail = log[end:]
    lost = needle.count_in(tail)
    return b"".join((*parts, bytes(len(tail)) if lost else tail)), total + lost


def _clean_payload(frame: Frame, needle: Needle, renamed: Renamed) -> tuple[bytes, int]:
    payload = bytes(frame.payload)
    if frame.kind == Kind.META:
        return clean_any(payload, needle)
    if frame.kind == Kind.BYTES:
        cleaned, count = clean_any(payload[32:], needle)
        return (hashlib.sha256(cleaned).digest() + cleaned, count) if count else (payload, 0)
    if frame.kind not in _PACKED:
        return payload, 0
    try:
        value = msgspec.msgpack.decode(payload)
    except msgspec.DecodeError:
        return needle.clean_bytes(payload)
    cleaned, count = _clean_value(value, needle, renamed)
    return (msgspec.msgpack.encode(cleaned), count) if count else (payload, 0)


def _clean_value(value: Any, needle: Needle, renamed: Renamed) -> tuple[Any, int]:
    """A decoded record; binary data (a chunk's columns) cannot contain the secret and is unchanged."""
    if isinstance(value, str):
        return needle.clean_text(value)
    if isinstance(value, bytes):
        return _clean_inline(value, needle)
    if isinstance(value, list):
        items = [_clean_value(item, needle, renamed) for item in value]
        return [item for item, _ in items], sum(count for _, count in items)
    if isinstance(value, dict):
        return _clean_dict(value, needle, renamed)
    return value, 0


def _clean_inline(value: bytes, needle: Needle) -> tuple[bytes, int]:
    try:
        value.decode()
    except UnicodeDecodeError:
        return value, 0
    return needle.clean_bytes(value)


def _clean_dict(value: dict[Any, Any], needle: Needle, renamed: Renamed) -> tuple[dict[Any, Any], int]:
    made: dict[Any, Any] = {}
    total = 0
    for key, item in value.items():
        new_key, in_key = needle.clean_text(key) if isinstance(key, str) else (key, 0)
        made[new_key], in_item = _clean_value(item, needle, renamed)
        total += in_key + in_item
    blob = renamed.get(str(value.get("sha256")))
    if blob is not None:
        made["sha256"], made["size"] = blob.sha256, blob.size
        total += 1
    elif total and isinstance(made.get("data"), bytes) and "size" in made:
        made["size"] = len(made["data"])
    return made, total
