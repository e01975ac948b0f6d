"""What a run folder has to send: its files, and whole frames of its logs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

from stepscope.files.listing import plain_files
from stepscope.files.opening import open_file, plain_size, read_window
from stepscope.runs.format.frames import scan
from stepscope.runs.format.layout import BLOBS, META
from stepscope.sync.wire import LARGEST_PIECE, PIECE, check_name, is_log


def names_to_send(run: Path, *, ended: bool) -> list[str]:
    """The files of a run, `meta.json` first and then what a log may name before the logs.

    Profiles, evidence and compacted files are written again while a run is active, so they are sent once it has ended.
    """
    found = []
    for path in plain_files(run, enter=lambda folder: not folder.name.startswith(".")):
        name = path.relative_to(run).as_posix()
        if not path.name.startswith(".") and (ended or name == META or is_log(name) or path.parent.name == BLOBS):
            found.append(check_name(name))
    return sorted(found, key=lambda name: (name != META, is_log(name), name))


def frames_from(run: Path, name: str, offset: int) -> bytes:
    """Whole frames of a log from `offset`, about a piece of them; nothing where no whole one follows yet."""
    with open_file(run / name, within=run) as file:
        window = PIECE
        while True:
            data = read_window(file, offset, window)
            end = _whole(data)
            if end or len(data) < window or window >= LARGEST_PIECE:
                return data[:end]
            window = min(window * 4, LARGEST_PIECE)


def checksum_before(run: Path, name: str, offset: int) -> int:
    """The CRC-32 of all bytes in front of a piece, which must be the same on the server."""
    with open_file(run / name, within=run) as file:
        return crc32(read_window(file, 0, offset))


def _whole(data: bytes) -> int:
    """Where the last whole frame ends."""
    end = 0
    for frame in scan(data):
        end = frame.end
    return end


def pieces_of(run: Path, name: str, offset: int) -> Iterator[tuple[int, bytes]]:
    """The bytes of a whole file from `offset`, piece by piece, each with where it begins."""
    with open_file(run / name, within=run) as file:
        file.seek(offset)
        while data := file.read(PIECE):
            yield offset, data
            offset += len(data)


def sha256_of(run: Path, name: str) -> tuple[str, int]:
    """The hash and the size of a file; a blob's hash is its name."""
    if name.startswith(f"{BLOBS}/"):
        return name.rpartition("/")[2], plain_size(run / name) or 0
    digest, size = hashlib.sha256(), 0
    for _, data in pieces_of(run, name, 0):
        digest.update(data)
        size += len(data)
    return digest.hexdigest(), size
