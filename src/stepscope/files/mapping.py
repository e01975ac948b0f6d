"""A memory-mapped file, so that only the used parts are read."""

from __future__ import annotations

import mmap
import os

from stepscope.files.elsewhere import found_elsewhere
from stepscope.files.opening import PathLike, open_file


def map_file(path: PathLike, *, within: PathLike | None = None) -> memoryview:
    """The bytes of a regular file, read-only and read on access; empty for an empty file.

    Only for files that are no longer written: truncating a mapped file kills the process.
    """
    with open_file(path, within=within) as file:
        found = os.fstat(file.fileno())
        if not found.st_size:
            return memoryview(b"")
        if found_elsewhere(os.fspath(path), found) is not None:  # a mapping would show zeros
            return memoryview(file.read())
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
