"""Files named by the hash of their content: larger media and artifact files.

A name is always 64 hex digits that were computed or checked here, so no outside input can choose a path. Equal content
is stored once, and a reader can verify content against its name.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from stepscope.errors import NotFound, UsageError
from stepscope.files.opening import open_file
from stepscope.runs.format.filesystem import create_file, make_folder, sync_data, sync_folder
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import BLOBS

_SHA256 = re.compile(r"[0-9a-f]{64}")
_CHUNK = 1 << 20


def blob_path(run: Path, sha256: str) -> Path:
    """The path of the blob with this hash; anything but 64 lower-case hex digits is rejected."""
    if not _SHA256.fullmatch(sha256):
        raise UsageError(f"{sha256[:80]!r} is not a SHA-256; expected 64 of the characters 0-9 and a-f")
    return run / BLOBS / sha256


def put_bytes(run: Path, data: bytes, *, sync: bool = True) -> str:
    """Store `data` and return its hash. Without `sync` it survives the process at once, a power loss only after a later
    sync.
    """
    sha256 = hashlib.sha256(data).hexdigest()
    if not _is_kept(blob_path(run, sha256), len(data)):
        _keep(run, iter((data,)), sync=sync)
    return sha256


def put_file(run: Path, source: Path, *, sync: bool = True, within: Path | None = None) -> tuple[str, int]:
    """Store a copy of a file, hashed while copying; returns hash and size. `within` is the folder it must not leave."""
    try:
        stream = open_file(source, within=within)
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(f"there is no file {str(source)!r} to store; check the path") from None
    except (IsADirectoryError, PermissionError) as fault:
        raise UsageError(
            f"{str(source)!r} cannot be read as a file: {fault.strerror}; give the path of a readable file"
        ) from None
    with stream:
        return _keep(run, _chunks(stream), sync=sync)


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    while chunk := stream.read(_CHUNK):
        yield chunk


def _is_kept(path: Path, size: int) -> bool:
    # A power loss can leave a short or empty file if it was not synced: write it again.
    try:
        return path.stat().st_size == size
    except OSError:
        return False


def _keep(run: Path, chunks: Iterable[bytes], *, sync: bool) -> tuple[str, int]:
    folder = run / BLOBS
    make_folder(folder, exist_ok=True)
    temporary = folder / f".{new_run_id()}.tmp"
    fd = create_file(temporary)
    try:
        digest, size = hashlib.sha256(), 0
        try:
            for chunk in chunks:
                digest.update(chunk)
                size += len(chunk)
                view = memoryview(chunk)
                while view:
                    view = view[os.write(fd, view) :]
            if sync:
                sync_data(fd)
        finally:
            os.close(fd)
        path = folder / digest.hexdigest()
        if _is_kept(path, size):
            temporary.unlink()
        else:
            os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    if sync:
        sync_folder(folder)
    return digest.hexdigest(), size
