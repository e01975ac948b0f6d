"""Files whose bytes are stored elsewhere: a sparse file of the same size is their placeholder, and ranges are fetched
on read.

A hollow file has a size but no blocks. Listing, sizes and times need nothing else; opening it through
`stepscope.files` reads the bytes from their storage. `look_elsewhere` sets how, for this process.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable

Fetch = Callable[[int, int], bytes]
"""`fetch(start, end)`: these bytes, or `OSError`."""
Finder = Callable[[str, int], Fetch | None]
"""`find(path, size)`: how to fetch the bytes of a hollow file; None for a genuinely sparse one."""
_BLOCK = 512
_MOST_COMPRESSED = 16
"""A compressing file system (btrfs, ZFS) stores our files in no less than a sixteenth of their size."""

_finders: list[Finder] = []


def look_elsewhere(finder: Finder) -> Callable[[], None]:
    """Read hollow files through `finder`; returns a function that undoes it."""
    _finders.append(finder)
    return lambda: _finders.remove(finder) if finder in _finders else None


def is_hollow(found: os.stat_result) -> bool:
    """Whether a file has a size and next to no bytes on the disk. One that the file system compresses is not hollow."""
    blocks: int | None = getattr(found, "st_blocks", None)
    return blocks is not None and blocks * _BLOCK * _MOST_COMPRESSED < found.st_size


def found_elsewhere(path: str, found: os.stat_result) -> Fetch | None:
    """How to read an open file whose bytes are elsewhere; None for all others."""
    if not _finders or not is_hollow(found):
        return None
    return next((fetch for finder in _finders if (fetch := finder(path, found.st_size)) is not None), None)


class RangeFile(io.RawIOBase):
    """Reads like the file it represents. `fileno` is the hollow file's, for its size and times only."""

    def __init__(self, fd: int, size: int, fetch: Fetch) -> None:
        self._fd, self._size, self._fetch = fd, size, fetch
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._fd

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise OSError(22, "cannot seek to before the beginning")
        self._at = base + offset
        return self._at

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        data = self._range(len(view))
        view[: len(data)] = data
        return len(data)

    def readall(self) -> bytes:
        return self._range(self._size)

    def _range(self, count: int) -> bytes:
        end = min(self._at + count, self._size)
        data = self._fetch(self._at, end) if self._at < end else b""
        self._at += len(data)
        return data

    def close(self) -> None:
        if not self.closed:
            os.close(self._fd)
        super().close()
