"""A file's type and image size, from its first bytes and never from its name; nothing is decoded."""

from __future__ import annotations

import struct


def mime_of(head: bytes) -> str | None:
    """The MIME type of images, sounds and videos that are stored unchanged, or None.

    >>> mime_of(b"GIF89a...")
    'image/gif'
    """
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/apng" if b"acTL" in head[:4096] else "image/png"
    if head.startswith(b"RIFF"):
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(head[8:12])
    if head[4:8] == b"ftyp":
        return "audio/mp4" if head[8:12] in (b"M4A ", b"M4B ") else "video/mp4"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if len(head) > 1 and head[0] == 0xFF and head[1] & 0xE6 == 0xE2:  # an MPEG audio frame of layer III
        return "audio/mpeg"
    for magic, mime in _MAGIC:
        if head.startswith(magic):
            return mime
    return None


_MAGIC = (
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
)


def image_size(data: bytes, mime: str) -> tuple[int, int] | None:
    """Width and height from the header of a PNG, GIF, WebP or JPEG; None if the header is broken."""
    try:
        if mime in ("image/png", "image/apng"):
            return struct.unpack(">II", data[16:24]) if data[12:16] == b"IHDR" else None
        if mime == "image/gif":
            return struct.unpack("<HH", data[6:10])
        if mime == "image/webp":
            return _webp_size(data)
        if mime == "image/jpeg":
            return _jpeg_size(data)
    except (struct.error, IndexError):
        return None
    return None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    kind = data[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        width, height = struct.unpack("<HH", data[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    """Walk the markers to the frame header; each segment has its length."""
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF or marker == 0x01 or 0xD0 <= marker <= 0xD8:  # fill bytes and markers without a body
            at += 1 if marker == 0xFF else 2
            continue
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        length = int.from_bytes(data[at + 2 : at + 4], "big")
        if length < 2:
            return None
        at += 2 + length
    return None
