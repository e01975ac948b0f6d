"""The server's side: pieces of files become byte-identical copies of runs, durable before they are acknowledged.

A log grows by whole frames. A piece that is there already is compared and acknowledged again, so requests may come
twice, late or in any order. Different bytes at the same place are refused: nothing that is here is ever written over.
Other files arrive under a temporary name and get their own once they are complete and have the right hash.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, NamedTuple
from zlib import crc32

from stepscope.errors import BadData, Conflict, NotFound, StorageError, UsageError
from stepscope.files.listing import plain_files
from stepscope.files.opening import open_file, open_writable, plain_size, read_file, read_window
from stepscope.runs.format.filesystem import create_file, make_folder, make_store, sync_folder
from stepscope.runs.format.frames import Hole, scan
from stepscope.runs.format.ids import is_run_id
from stepscope.runs.format.layout import BLOBS, META
from stepscope.runs.format.ledger import LedgerReader
from stepscope.runs.format.sealed import seal_of
from stepscope.sync.fates import Fates
from stepscope.sync.locks import PathLocks
from stepscope.sync.settled import Settled
from stepscope.sync.wire import Held, Stored, check_name, is_log

_PARTIAL = ".sync-"
_LARGEST_LOG = 1 << 30
_CHUNK = 1 << 20


class _End(NamedTuple):
    """Up to where a log has whole frames, and the CRC-32 of all of it."""

    size: int
    checksum: int


class Keep:
    """A store that takes copies of runs. Several threads and processes of a machine may write to one store."""

    def __init__(self, store: Path, on_change: Callable[[], object] = lambda: None) -> None:
        """`on_change` is called after something new was kept."""
        self.store = store
        self._on_change = on_change
        self.fates = Fates(store)
        self._locks = PathLocks(store)
        self._settled = Settled()
        self._ledgers = LedgerReader()
        self._sound: dict[Path, _End] = {}
        """Logs that were read, so that not each piece reads all that came before it."""

    def held(self, run: str) -> Held:
        """How much of each file of a run is here."""
        folder = self.folder_of(run)
        found: dict[str, int] = {}
        settled = self._settled.logs(folder)
        for path in plain_files(folder, enter=lambda inner: not inner.name.startswith(".")):
            name = path.relative_to(folder).as_posix()
            if path.name.startswith("."):
                continue
            if name in settled:  # a media log may have lost bytes to retention since
                found[name] = settled[name]
            elif is_log(name):
                with self._locks.locked(path):
                    found[name] = self._sound_size(path, folder)
            else:
                found[name] = plain_size(path) or 0
        compacted = {name: size for name, size in settled.items() if name not in found}
        gone = {name: size for name, size in self._ledgers.of(folder).files.items() if name not in found}
        return Held(found, compacted, self.fates.deleted(run), gone)

    def add(
        self,
        run: str,
        name: str,
        offset: int,
        data: bytes,
        *,
        before: int | None = None,
        sha256: str = "",
        size: int = -1,
    ) -> Stored:
        """Keep a piece of a file.

        For a log, `before` is the CRC-32 of all bytes in front of it; for any other file, `sha256` and `size`
        are those of the whole.
        """
        folder = self.folder_of(run)
        path = folder / check_name(name)
        if offset < 0 or not data:
            raise UsageError(f"a piece of {name} begins at {offset} and has {len(data)} bytes; both must be positive")
        if not (folder / META).exists():
            if self.fates.deleted(run) is not None:
                raise Conflict(f"run {run} was deleted on the server; restore it there or here to send more of it")
            if name != META:
                raise NotFound(f"run {run} is not on this server yet; send its {META} first")
        removed = self._ledgers.of(folder).files.get(name)
        if removed is not None and plain_size(path) is None:  # it was here, and was removed
            return Stored(removed)
        with self._locks.locked(path):
            try:
                if is_log(name):
                    stored = self._add_frames(path, folder, offset, data, before)
                else:
                    stored = self._add_part(path, folder, offset, data, sha256, size)
            except OSError as fault:
                self._sound.pop(path, None)
                raise StorageError(f"the server cannot keep {name}: {fault.strerror or fault}") from None
        self._on_change()
        return stored

    def folder_of(self, run: str) -> Path:
        """Where a run is, or would be."""
        if not is_run_id(run):
            raise UsageError(f"{run[:80]!r} is not a run id; expected 26 letters and digits")
        return self.store / run

    # -- logs ---------------------------------------------------------------------------------------------------

    def _sound_size(self, path: Path, folder: Path) -> int:
        """Where the last whole frame of a log ends; what a crash has left behind it was never acknowledged."""
        size = plain_size(path) or 0
        known = self._sound.get(path)
        if known is None or known.size > size:
            known = _End(0, 0)
        if known.size == size:
            return size
        with open_file(path, within=folder) as file:  # what another process has added, or all of it
            data = read_window(file, known.size, min(size - known.size, _LARGEST_LOG))
        end = 0
        for frame in scan(data):
            end = frame.end
        if end < len(data):
            with open_writable(path, within=folder) as file:
                file.truncate(known.size + end)
                os.fsync(file.fileno())
        known = self._sound[path] = _End(known.size + end, crc32(memoryview(data)[:end], known.checksum))
        return known.size

    def _check_before(self, path: Path, file: BinaryIO, offset: int, before: int | None) -> None:
        """A piece lands only behind the bytes that it followed where it came from."""
        known = self._sound[path]
        here = known.checksum if offset == known.size else crc32(read_window(file, 0, offset))
        if here != before:
            raise _differs(path.name, 0, offset)

    def _add_frames(self, path: Path, folder: Path, offset: int, data: bytes, before: int | None) -> Stored:
        _check_frames(path.name, data)
        settled = self._settled.logs(folder).get(path.name)
        if settled is not None:  # sealed, and perhaps compacted since: nothing can follow
            if offset + len(data) > settled:
                raise _differs(path.name, settled, offset + len(data))
            return Stored(settled)
        here = self._sound_size(path, folder)
        if offset > here:
            return Stored(here, gap=True)
        new = data
        if here:
            with open_file(path, within=folder) as file:
                self._check_before(path, file, offset, before)
                new = _beyond(file, here, offset, data, path.name)
        if new:
            known = self._sound.pop(path, None) if here else None  # after a fault it is read again
            _append(path, folder, new, is_new=not here and plain_size(path) is None)
            self._sound[path] = _End(here + len(new), crc32(new, known.checksum if known else 0))
        return Stored(max(here, offset + len(data)))

    # -- whole files ----------------------------------------------------------------------------------------------

    def _add_part(self, path: Path, folder: Path, offset: int, data: bytes, sha256: str, size: int) -> Stored:
        if len(sha256) != 64 or not sha256.isalnum() or offset + len(data) > size:
            raise UsageError(f"{path.name} needs its size and SHA-256 with each piece, and no piece may go beyond it")
        if path.parent.name == BLOBS and path.name != sha256:
            raise BadData(f"the blob {path.name} has the SHA-256 {sha256}; expected its name")
        if plain_size(path) is not None:
            return _same(path, folder, sha256, size)
        if path.parent != folder or not folder.exists():
            self._make_folders(path.parent)
        part = path.with_name(f"{_PARTIAL}{sha256}")
        here = plain_size(part) or 0
        if offset > here:
            return Stored(here, gap=True)
        try:
            with open_file(part, within=folder) as file:
                new = _beyond(file, here, offset, data, path.name)
        except FileNotFoundError:
            new = data
        except Conflict:  # what a power cut has left: begin again
            part.unlink()
            return Stored(0, gap=True)
        if new:
            _append(part, folder, new, is_new=not here and plain_size(part) is None)
        here = max(here, offset + len(data))
        return _finished(part, path, folder, sha256) if here == size else Stored(here)

    def _make_folders(self, folder: Path) -> None:
        if folder == self.store:
            make_store(self.store)
        elif not folder.exists():
            self._make_folders(folder.parent)
            make_folder(folder, exist_ok=True)
            sync_folder(folder.parent)


def _check_frames(name: str, data: bytes) -> None:
    """Whole frames only, with sound checksums and rising numbers. Damage in the client's own file travels as it is."""
    end, seq = 0, -1
    for frame in scan(data):
        if not isinstance(frame, Hole):
            if frame.seq <= seq:
                raise BadData(f"a piece of {name} has frame {frame.seq} after {seq}; frames must keep their order")
            seq = frame.seq
        end = frame.end
    if end != len(data):
        raise BadData(f"a piece of {name} has {len(data) - end} bytes after its last whole frame; send whole frames")


def _beyond(file: BinaryIO, here: int, offset: int, data: bytes, name: str) -> bytes:
    """What of a piece is not in the file yet; refused if what is there differs."""
    overlap = min(here - offset, len(data))
    if read_window(file, offset, overlap) != data[:overlap]:
        raise _differs(name, offset, offset + overlap)
    return data[overlap:]


def _differs(name: str, start: int, end: int) -> Conflict:
    return Conflict(
        f"{name} has other bytes on the server between {start} and {end}; nothing was changed there. "
        "Was the file rewritten here (`stepscope scrub`) or the run copied and continued in two places?"
    )


def _append(path: Path, folder: Path, data: bytes, *, is_new: bool) -> None:
    if is_new:
        fd = create_file(path)
        try:
            with os.fdopen(fd, "ab") as file:
                _write(file, data)
        except OSError:
            path.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)
        return
    with open_writable(path, within=folder) as file:
        end = file.seek(0, os.SEEK_END)
        try:
            _write(file, data)
        except OSError:
            file.truncate(end)
            raise


def _write(file: BinaryIO, data: bytes) -> None:
    file.write(data)
    file.flush()
    os.fsync(file.fileno())


def _same(path: Path, folder: Path, sha256: str, size: int) -> Stored:
    if plain_size(path) != size or _hash(path, folder) != sha256:
        raise Conflict(f"{path.name} has other content on the server, which is kept; nothing was changed there")
    return Stored(size)


def _finished(part: Path, path: Path, folder: Path, sha256: str) -> Stored:
    if _hash(part, folder) != sha256:
        part.unlink()
        raise BadData(f"{path.name} does not have the SHA-256 {sha256} that was announced; send it again")
    if path.name == META and seal_of(read_file(part, _LARGEST_LOG, within=folder)) == "damaged":
        part.unlink()
        raise BadData(f"{META} does not match its checksum; repair it first with `stepscope compact`")
    os.replace(part, path)
    sync_folder(path.parent)
    return Stored(plain_size(path) or 0)


def _hash(path: Path, folder: Path) -> str:
    digest = hashlib.sha256()
    with open_file(path, within=folder) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
