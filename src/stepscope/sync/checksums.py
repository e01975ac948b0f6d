"""Checksums of files that are asked for again and again: what was read once is not read a second time.

A log only grows, so the CRC-32 of its beginning is continued from where it was taken last. Any other file is replaced
and never written to, so its hash holds while its size, time and inode do.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from pathlib import Path
from typing import NamedTuple, TypeVar
from zlib import crc32

from stepscope.files.opening import open_file, read_window
from stepscope.sync.local import sha256_of

T = TypeVar("T")
_MOST = 2_000


class _Beginning(NamedTuple):
    inode: int
    size: int
    crc: int


class Checksums:
    """Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._beginnings: OrderedDict[Path, _Beginning] = OrderedDict()
        self._whole: OrderedDict[Path, tuple[tuple[int, int, int], str]] = OrderedDict()

    def before(self, run: Path, name: str, offset: int) -> int:
        """The CRC-32 of all bytes of a log in front of `offset`."""
        path = run / name
        with self._lock:
            known = self._beginnings.get(path)
        with open_file(path, within=run) as file:
            inode = os.fstat(file.fileno()).st_ino
            if known is None or known.inode != inode or known.size > offset:
                known = _Beginning(inode, 0, 0)
            crc = crc32(read_window(file, known.size, offset - known.size), known.crc)
        self._keep(self._beginnings, path, _Beginning(inode, offset, crc))
        return crc

    def whole(self, run: Path, name: str) -> tuple[str, int]:
        """The SHA-256 and the size of a file that appears whole."""
        path = run / name
        found = path.lstat()
        stamp = (found.st_ino, found.st_size, found.st_mtime_ns)
        with self._lock:
            known = self._whole.get(path)
        if known is not None and known[0] == stamp:
            return known[1], found.st_size
        sha256, size = sha256_of(run, name)
        if size == found.st_size:
            self._keep(self._whole, path, (stamp, sha256))
        return sha256, size

    def _keep(self, kept: OrderedDict[Path, T], path: Path, value: T) -> None:
        with self._lock:
            kept[path] = value
            kept.move_to_end(path)
            if len(kept) > _MOST:
                kept.popitem(last=False)
