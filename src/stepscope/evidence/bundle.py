"""All tables of one process as one file: compressed, with a checksum, written atomically.

A gzip file of two marks and a `Bundle` encoded by `codec`. Tables with another version are skipped when reading, and
rules that need them do not run.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stepscope.errors import BadData, StepscopeError
from stepscope.evidence.codec import decode, encode
from stepscope.evidence.registry import record, records, tables
from stepscope.files.packed import inflated

FOLDER = "evidence"
"""Per run: one file for each watched process."""
MOST_BYTES = 4 << 20
"""Maximum size of one file. Larger ones are not written."""
_MOST_UNPACKED = 128 << 20
_MARK = b"\xffstepscope evidence 1\n"
"""The first bytes of the unpacked file. No text starts with them: replacing words in it preserves their length."""


@record
@dataclass(eq=False)
class Bundle:
    """What one process has observed."""

    tables: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    """The text of the project's executed files, by path."""
    rank: int = 0
    script: str = ""
    left_out: str = ""
    """Why there are no tables, if there are none."""


def pack(bundle: Bundle, text: Callable[[str], str] | None = None, *, strict: bool = False) -> bytes:
    """The bytes of a file; `text` is called for every longer string, to mask secrets in it."""
    known = tables()
    bundle.versions = {name: known[name].version for name in bundle.tables}
    plain = encode(bundle, records(), text=text, strict=strict)
    return gzip.compress(_MARK + plain, 6, mtime=0)


def unpack(data: bytes) -> Bundle:
    """The argument of `pack`, without tables of other versions; raises `BadData` for other bytes."""
    try:
        plain = inflated(data, _MOST_UNPACKED, "evidence", wbits=zlib.MAX_WBITS | 16)
        if not plain.startswith(_MARK):
            raise BadData(f"this is not evidence of a run: it starts with {plain[:24]!r}")
        bundle = decode(memoryview(plain)[len(_MARK) :], records())
    except (StepscopeError, zlib.error) as fault:
        raise BadData(f"this evidence cannot be read: {fault}") from None
    if not isinstance(bundle, Bundle):
        raise BadData("this evidence cannot be read: it contains something else")
    bundle.tables = _of_today(bundle.tables, bundle.versions)
    return bundle


def _of_today(found: Mapping[str, Any], versions: Mapping[str, int]) -> dict[str, Any]:
    known = tables()
    return {
        name: value
        for name, value in found.items()
        if name in known and known[name].version == versions.get(name) and isinstance(value, known[name].kind)
    }
