"""A file mapped into memory, so that only what is looked at is read."""

from __future__ import annotations

import mmap
import os

from stepscope.files.opening import PathLike, open_file

__all__ = ["map_file"]


def map_file(path: PathLike, *, within: PathLike | None = None) -> memoryview:
    """The bytes of a regular file, read only and read when they are touched; empty for an empty file.

    Only for files that nobody writes to any more: one that is cut while it is mapped ends the process.
    """
    with open_file(path, within=within) as file:
        if not os.fstat(file.fileno()).st_size:
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
