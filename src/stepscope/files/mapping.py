"""A file mapped into memory, so that only what is looked at is read."""

from __future__ import annotations

import mmap
import os

from stepscope.files.elsewhere import found_elsewhere
from stepscope.files.opening import PathLike, open_file

__all__ = ["map_file"]


def map_file(path: PathLike, *, within: PathLike | None = None) -> memoryview:
    """The bytes of a regular file, read only and read when they are touched; empty for an empty file.

    Only for files that nobody writes to any more: one that is cut while it is mapped ends the process.
    """
    with open_file(path, within=within) as file:
        found = os.fstat(file.fileno())
        if not found.st_size:
            return memoryview(b"")
        if found_elsewhere(os.fspath(path), found) is not None:  # a map would show empty space
            return memoryview(file.read())
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
