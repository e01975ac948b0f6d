"""Where a server keeps the files of runs that have ended: a bucket, or a folder that is used in the same way.

An object is written whole, never changed, and read by ranges.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from stepscope.files.listing import plain_files
from stepscope.files.opening import open_file, plain_size, read_window
from stepscope.runs.format.filesystem import create_file, make_folder, make_store, sync_folder
from stepscope.runs.format.ids import new_run_id

_CHUNK = 1 << 20


class Stat(NamedTuple):
    """What the store says of an object without sending it. `sha256` is empty where it does not keep one."""

    size: int
    sha256: str


class Objects(Protocol):
    """Keys are paths of plain names. Every fault is an `OSError` (`StorageError` is not one: it is for the start)."""

    name: str

    def put(self, key: str, file: BinaryIO, size: int, sha256: str) -> None:
        """Write the first `size` bytes of a file as an object; it is durable when this returns."""

    def read(self, key: str, start: int, end: int) -> bytes:
        """The bytes from `start` up to `end`."""

    def stat(self, key: str) -> Stat | None:
        """None where there is no such object."""

    def keys(self, prefix: str = "") -> Iterator[str]:
        """All keys that begin with a prefix, in order."""

    def delete(self, key: str) -> None:
        """Remove an object; one that is missing is not an error."""


class FolderObjects:
    """Objects as files of a folder: a network file system, a second disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = str(folder)
        make_store(folder)

    def put(self, key: str, file: BinaryIO, size: int, sha256: str) -> None:
        path = self.folder / key
        _make_folders(path.parent, self.folder)
        temporary = path.with_name(f".{new_run_id()}.tmp")
        left = size
        try:
            with os.fdopen(create_file(temporary), "ab") as out:
                while chunk := file.read(min(left, _CHUNK)):
                    out.write(chunk)
                    left -= len(chunk)
                out.flush()
                os.fsync(out.fileno())
            if plain_size(temporary) != size:
                raise OSError(f"{key} changed while it was copied")
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
        sync_folder(path.parent)

    def read(self, key: str, start: int, end: int) -> bytes:
        with open_file(self.folder / key, within=self.folder, buffering=0) as file:
            return read_window(file, start, end - start)

    def stat(self, key: str) -> Stat | None:
        size = plain_size(self.folder / key)
        if size is None:
            return None
        digest = hashlib.sha256()
        with open_file(self.folder / key, within=self.folder) as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
        return Stat(size, digest.hexdigest())

    def keys(self, prefix: str = "") -> Iterator[str]:
        start = self.folder / prefix if prefix.endswith("/") else self.folder
        for path in plain_files(start):
            key = path.relative_to(self.folder).as_posix()
            if key.startswith(prefix) and not path.name.endswith(".tmp"):
                yield key

    def delete(self, key: str) -> None:
        path = self.folder / key
        path.unlink(missing_ok=True)
        for folder in path.parents:
            if folder == self.folder:
                break
            try:
                folder.rmdir()
            except OSError:  # not empty
                break


def _make_folders(folder: Path, top: Path) -> None:
    if folder != top and not folder.exists():
        _make_folders(folder.parent, top)
        make_folder(folder, exist_ok=True)
        sync_folder(folder.parent)
