"""Stamps: has anything in a run folder changed since it was last read?

Listing ten thousand runs must not open ten thousand folders. A run that has ended and whose log files are all sealed
changes only when a file is added or removed, and that changes the folder's own modification time: one `stat` is enough.
For any other run, the names, sizes and times of its files are compared.
"""

from __future__ import annotations

import os
from pathlib import Path
from zlib import crc32

from stepscope.common import clocks
from stepscope.files.opening import open_file
from stepscope.runs.format.frames import HEADER, Kind, decode_at
from stepscope.runs.format.layout import COMPACT

RACY_S = 2.0
"""A folder changed more recently than this may change again with the same timestamp (FAT has a resolution of 2 s)."""


def folder_stamp(found: os.stat_result) -> str:
    """The stamp of a settled run, from one `stat` of its folder."""
    return f"={found.st_mtime_ns:x}.{found.st_ino:x}"


def listing_stamp(path: Path) -> str:
    """The stamp of a run that may still grow: the sizes and modification times of its files."""
    parts: list[str] = []
    for folder in (path, path / COMPACT):
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.endswith((".log", ".json")):
                        found = entry.stat(follow_symlinks=False)
                        parts.append(f"{entry.name}\0{found.st_size}\0{found.st_mtime_ns}")
        except OSError:
            continue  # no such folder, or a file disappeared meanwhile: the stamp will differ next time
    parts.sort()
    text = "\0".join(parts).encode(errors="surrogateescape")
    return f"~{len(parts):x}.{len(text):x}.{crc32(text):08x}"


def may_settle(path: Path, found: os.stat_result, now: float | None = None) -> bool:
    """Whether `folder_stamp` alone is enough from now on for an ended run."""
    age = (clocks.time() if now is None else now) - found.st_mtime
    if age < RACY_S:
        return False
    try:
        with os.scandir(path) as entries:
            return all(is_sealed(entry.path) for entry in entries if entry.name.endswith(".log"))
    except OSError:
        return False


def is_sealed(path: str | Path) -> bool:
    """Whether a log file ends with a `SEAL` frame, so that its writer adds nothing more."""
    try:
        with open_file(path, within=os.path.dirname(path) or os.curdir, buffering=0) as file:
            file.seek(-HEADER.size, os.SEEK_END)
            tail = file.read(HEADER.size)
    except OSError:
        return False
    frame = decode_at(memoryview(tail), 0)
    return frame is not None and frame.kind == Kind.SEAL
