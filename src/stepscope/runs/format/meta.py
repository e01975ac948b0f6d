"""`meta.json`: the description of a run, protected by a checksum and a copy in the run's logs.

If the file is damaged, truncated or missing, the copy in the log is used and this is reported; `compact` restores
it. Runs from before the checksum have no copy and are read as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from stepscope.errors import BadData, Forbidden, NotFound
from stepscope.files.decoding import MALFORMED
from stepscope.files.opening import open_file, read_file, read_window
from stepscope.records import FORMAT, RunMeta
from stepscope.runs.format.frames import HEADER, MAGIC, Kind, decode_at
from stepscope.runs.format.layout import COMPACT, LARGEST_META, META, log_files, write_file
from stepscope.runs.format.sealed import seal_of

_WINDOW = 64 << 10
_START = MAGIC + bytes([Kind.META])

# Created at import, not on first use: if two threads create one at the same time, msgspec (0.22) kills the process.
_decoder = msgspec.json.Decoder(RunMeta)


class Known(NamedTuple):
    """The description of a run, and what was wrong with its file."""

    meta: RunMeta
    problem: str = ""


def read_meta(path: Path) -> RunMeta:
    """The description of a run, from its folder."""
    return known_meta(path).meta


def known_meta(path: Path) -> Known:
    """The description of a run, from its `meta.json`, else from its logs."""
    file = path / META
    try:
        data = read_file(file, LARGEST_META, within=path)
    except (FileNotFoundError, NotADirectoryError):
        copy = _from_logs(path)
        if copy is None:
            raise NotFound(f"{path} is not a run folder: it has no {META}; give the folder of a run") from None
        return Known(copy, f"{META} is missing; its content was read from the log")
    except PermissionError:
        raise Forbidden(f"{file} may not be read by this user; its owner can open it up with: chmod -R a+rX") from None
    seal = seal_of(data)
    if seal == "sound":
        return Known(_decoded(data, file))
    copy = _from_logs(path)
    if copy is not None:
        return Known(copy, f"{META} is damaged; its content was read from the log")
    if seal == "damaged":
        raise BadData(
            f"{file} is damaged: it does not match its checksum, and the run's logs hold no copy of it; "
            + _what_to_do(path, 'or, to accept its current content, remove its "checksum" line')
        )
    return Known(_decoded(data, file, _what_to_do(path, "or correct it in a text editor")))


def repair_meta(path: Path) -> bool:
    """Restore a damaged or missing `meta.json` from the log and keep the damaged one; False if not needed."""
    try:
        if seal_of(read_file(path / META, LARGEST_META, within=path)) == "sound":
            return False
    except (FileNotFoundError, BadData):
        pass
    copy = next(_copies(path), None)
    if copy is None:
        return False
    if (path / META).is_file():
        (path / META).replace(path / f"{META}.damaged")
    write_file(path / META, copy)
    return True


def _what_to_do(path: Path, otherwise: str) -> str:
    """Advice for a run whose `meta.json` is damaged and has no copy; its points are intact."""
    least = RunMeta(id=path.name, project="restored", name=path.name, created=0.0)
    text = msgspec.json.encode({key: getattr(least, key) for key in ("id", "project", "name", "created")}).decode()
    return (
        f"restore the file from a backup, {otherwise}. "
        f"The points are not affected: to open the run without its config, replace the file's content with {text}"
    )


def _from_logs(path: Path) -> RunMeta | None:
    for copy in _copies(path):
        try:
            return _decoded(copy, path)
        except BadData:
            continue
    return None


def _copies(path: Path) -> Iterator[bytes]:
    """The valid copies of `meta.json` in a run's logs, judged by the frame checksums and their own."""
    for file in (*log_files(path), *log_files(path / COMPACT)):
        try:
            with open_file(file, within=path, buffering=0) as log:
                copy = _copy_in(log)
        except OSError:
            continue
        if copy is not None:
            yield copy


def _copy_in(log: BinaryIO) -> bytes | None:
    """The copy follows the header of a file or section, so only the beginning is searched."""
    begin = read_window(log, 0, _WINDOW)
    at = begin.find(_START)
    while at >= 0 and len(begin) - at >= HEADER.size:
        length = HEADER.unpack_from(begin, at)[3]
        if length <= LARGEST_META:
            frame = decode_at(memoryview(read_window(log, at, HEADER.size + length)), 0)
            if frame is not None and seal_of(bytes(frame.payload)) == "sound":
                return bytes(frame.payload)
        at = begin.find(_START, at + 1)
    return None


def _decoded(data: bytes, file: Path, advice: str = "restore the file from a backup") -> RunMeta:
    try:
        meta = _decoder.decode(data)
    except MALFORMED as fault:
        raise BadData(f"{file} cannot be read: {fault}, and the run's logs hold no copy of it; {advice}") from None
    if meta.format > FORMAT:
        raise BadData(
            f"{file} has format {meta.format}, this Stepscope reads up to {FORMAT}; "
            "update it with: pip install -U stepscope"
        )
    return meta
