"""Small JSON files with a checksum as their last field, so that bit flips are detected.

    {"name": "digits",
     "checksum": "crc32 1c291ca3"
    }

It is still JSON: any tool reads it, and unaware readers ignore the field. Files without a checksum are "unsealed" and
trusted. A file with a wrong or partial checksum is damaged.
"""

from __future__ import annotations

from typing import Literal
from zlib import crc32

Seal = Literal["sound", "unsealed", "damaged"]

_HEAD = b',\n "checksum": "crc32 '
_FOOT = b'"\n}'
_LENGTH = len(_HEAD) + 8 + len(_FOOT)
_TRACES = (b'"checksum"', b"crc32 ")
_TAIL = 2 * _LENGTH


def sealed(data: bytes) -> bytes:
    """A JSON object with its checksum."""
    text = data.rstrip()
    body = text[:-1].rstrip()
    if not text.endswith(b"}") or not text.startswith(b"{") or body == b"{":
        raise ValueError(f"only an object with fields can be sealed, not {text[:40]!r}")
    return b"".join((body, _HEAD, b"%08x" % crc32(body), _FOOT))


def seal_of(data: bytes) -> Seal:
    """Whether the bytes match their checksum."""
    tail = data[-_LENGTH:]
    if tail.startswith(_HEAD) and tail.endswith(_FOOT):
        same = tail[len(_HEAD) : len(_HEAD) + 8] == b"%08x" % crc32(memoryview(data)[:-_LENGTH])
        return "sound" if same else "damaged"
    return "damaged" if any(trace in data[-_TAIL:] for trace in _TRACES) else "unsealed"
