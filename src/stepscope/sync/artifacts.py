"""Artifacts of a server: found by name, fetched by hash, resumed where a download stopped."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from stepscope.errors import BadData, StorageError
from stepscope.files.opening import open_file, plain_size
from stepscope.sync.remote import Remote, Unreachable

_PIECE = 8 << 20
_CHUNK = 1 << 20
_TRIES_S = (0.5, 2.0, 5.0, 15.0)


def download(
    remote: Remote, run: str, sha256: str, size: int, target: Path, sleep: Callable[[float], None] = time.sleep
) -> int:
    """Have the file with this hash at `target`; how many bytes came over the network.

    What an interrupted download has left is kept beside it and continued. The file appears once its hash is right.
    """
    if plain_size(target) == size and _hash(target) == sha256:
        return 0
    part = target.with_name(f".{sha256}.part")
    came = failed = 0
    try:
        with open(part, "ab") as out:
            have = out.tell()
            if have > size:
                out.truncate(0)
                have = 0
            while have < size:
                try:
                    data = remote.blob(run, sha256, have, min(have + _PIECE, size))
                except Unreachable:
                    if failed >= len(_TRIES_S):
                        raise
                    sleep(_TRIES_S[failed])
                    failed += 1
                    continue
                failed = 0
                out.write(data)
                have += len(data)
                came += len(data)
            out.flush()
            os.fsync(out.fileno())
        if _hash(part) != sha256:
            part.unlink()
            raise BadData(f"{target.name} does not have the SHA-256 {sha256} that the server names; fetch it again")
        os.replace(part, target)
    except OSError as fault:
        raise StorageError(f"{target} cannot be written: {fault.strerror or fault}") from None
    return came


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    with open_file(path) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
