"""Checksums beside files whose format has no place for one: `.000001.md.crc32` beside `000001.md`.

A file without one is trusted: it is older, or another program wrote it.
"""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

from stepscope.files.opening import read_file
from stepscope.runs.format.layout import write_file


def note_checksum(path: Path, data: bytes) -> None:
    """Write a file's checksum."""
    write_file(_beside(path), b"%08x\n" % crc32(data))


def note_checksum_again(path: Path, data: bytes) -> None:
    """Update the checksum of a file that was changed on purpose, if it has one."""
    if _beside(path).exists():
        note_checksum(path, data)


def is_as_written(path: Path, data: bytes) -> bool:
    """Whether a file's bytes match its checksum."""
    try:
        noted = read_file(_beside(path), 64, within=path.parent).strip()
    except OSError:
        return True
    return noted == b"%08x" % crc32(data)


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.crc32")
