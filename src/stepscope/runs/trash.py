"""The trash of a store: deleted runs move to `.trash` beside the others, and can be restored for a week.

Deleting is one rename on the same file system: quick for any size, and atomic. A small note beside the folder (when,
which run) lets the trash be listed without opening runs.

    trashed = move_to_trash(path)
    restore(trashed)
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from stepscope.common import clocks
from stepscope.errors import BadData, NotFound, StepscopeError, StorageError
from stepscope.files.decoding import MALFORMED
from stepscope.files.opening import read_file
from stepscope.runs.format.filesystem import make_common_folder, sync_folder
from stepscope.runs.format.ids import is_run_id
from stepscope.runs.format.layout import write_file
from stepscope.runs.format.meta import read_meta
from stepscope.runs.format.sealed import seal_of, sealed

TRASH = ".trash"
"""Catalogs skip names that begin with a dot, so trashed runs are not listed."""
KEPT_S = 7 * 86400.0
_LARGEST_NOTE = 1 << 16
_RESTORED = ".restored"
"""In the run's folder: when it was restored."""


class Trashed(msgspec.Struct, frozen=True):
    """A deleted run."""

    id: str
    name: str
    project: str
    deleted: float
    """When, in unix seconds."""
    bytes: int
    home: str
    """The folder it was in."""
    folder: str
    """The name of its own folder there: its id, unless renamed."""

    @property
    def path(self) -> Path:
        return Path(self.home) / TRASH / self.folder

    @property
    def purged(self) -> float:
        """When it is removed permanently."""
        return self.deleted + KEPT_S


class _Note(msgspec.Struct):
    """The note beside a folder in the trash."""

    id: str
    name: str
    project: str
    deleted: float
    bytes: int


# Created at import, not on first use: if two threads create one at the same time, msgspec (0.22) kills the process.
_note_decoder = msgspec.json.Decoder(_Note)


def move_to_trash(path: Path, name: str = "", now: float | None = None) -> Trashed:
    """Move a run to the trash; `name` is a later name than the one in `meta.json`, if known."""
    meta = read_meta(path)
    home, bin_ = path.parent, path.parent / TRASH
    deleted = clocks.time() if now is None else now
    gone = Trashed(meta.id, name or meta.name, meta.project, deleted, folder_size(path), str(home), path.name)
    note = _Note(gone.id, gone.name, gone.project, gone.deleted, gone.bytes)
    try:
        make_common_folder(bin_)
        sync_folder(home)  # before anything is moved there: a power loss could keep the move and lose the folder
        # The note first: a crash in between leaves a note without a folder, which is ignored.
        write_file(_note_of(gone.path), sealed(msgspec.json.encode(note)))
        path.rename(gone.path)
        sync_folder(bin_)
        sync_folder(home)
    except OSError as fault:
        if fault.errno in (errno.ENOTEMPTY, errno.EEXIST):
            raise StorageError(f"{gone.path} is already in the trash; restore or purge that one first") from None
        if path.exists():
            _note_of(gone.path).unlink(missing_ok=True)
        raise StorageError(
            f"{path} could not be moved to the trash: {fault.strerror or fault}; check the folder's permissions"
        ) from None
    return gone


def trashed_runs(homes: Iterable[Path]) -> list[Trashed]:
    """The trash of these folders, latest first."""
    found = {one.path: one for home in homes for one in _trashed_in(home)}
    return sorted(found.values(), key=lambda one: one.deleted, reverse=True)


def restored_at(path: Path) -> float | None:
    """When a run was restored, for those who have copies of it; None if never."""
    try:
        return float(read_file(path / _RESTORED, 64, within=path))
    except (OSError, ValueError):
        return None


def restore(one: Trashed, now: float | None = None) -> Path:
    """Restore a deleted run to its old place."""
    home = Path(one.home) / one.folder
    if home.exists():
        raise StorageError(f"{home} exists again; move it away first")
    try:
        one.path.rename(home)
    except FileNotFoundError:
        raise NotFound(f"run {one.id} is no longer in the trash; `stepscope trash` lists its contents") from None
    except OSError as fault:
        raise StorageError(
            f"{home} could not be restored: {fault.strerror or fault}; check the folder's permissions"
        ) from None
    sync_folder(home.parent)  # before the trash is removed: a power loss must not lose both
    with suppress(OSError):
        write_file(home / _RESTORED, repr(clocks.time() if now is None else now).encode())
    _note_of(one.path).unlink(missing_ok=True)
    _drop_if_empty(one.path.parent)
    return home


def purge(one: Trashed) -> None:
    """Remove a deleted run permanently."""
    try:
        shutil.rmtree(one.path)
        _note_of(one.path).unlink(missing_ok=True)
    except FileNotFoundError:
        return  # another process was faster
    except OSError as fault:
        raise StorageError(
            f"{one.path} could not be removed: {fault.strerror or fault}; check the folder's permissions"
        ) from None
    _drop_if_empty(one.path.parent)


def purge_old(homes: Iterable[Path], now: float | None = None) -> int:
    """Permanently remove runs deleted a week ago; returns how many. Failures are retried next time."""
    limit = (clocks.time() if now is None else now) - KEPT_S
    count = 0
    for one in trashed_runs(homes):
        if one.deleted >= limit:
            continue
        try:
            purge(one)
        except StorageError:
            continue
        count += 1
    return count


def folder_size(path: Path) -> int:
    """The bytes of all files of a run; links are not followed."""
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except OSError:  # deleted meanwhile
                continue
    return total


def _drop_if_empty(folder: Path) -> None:
    """Remove an empty trash, so that a store without deleted runs contains only runs."""
    with suppress(OSError):
        folder.rmdir()


def _note_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def _trashed_in(home: Path) -> list[Trashed]:
    try:
        with os.scandir(home / TRASH) as listing:
            folders = [entry.name for entry in listing if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    found = (_read(home, name) for name in folders)
    return [one for one in found if one is not None]


def _read(home: Path, folder: str) -> Trashed | None:
    """A folder in the trash; without its note it is still a run that somebody may want back."""
    path = home / TRASH / folder
    try:
        data = read_file(_note_of(path), _LARGEST_NOTE, within=path.parent)
        if seal_of(data) == "damaged":
            raise BadData(f"{_note_of(path)} does not match its checksum")
        note = _note_decoder.decode(data)
        return Trashed(note.id, note.name, note.project, note.deleted, note.bytes, str(home), folder)
    except (OSError, BadData, *MALFORMED):
        pass
    try:
        meta = read_meta(path)
        deleted = path.stat().st_ctime  # a rename updates it
    except (StepscopeError, OSError):
        return None
    if not is_run_id(meta.id):
        return None
    return Trashed(meta.id, meta.name, meta.project, deleted, folder_size(path), str(home), folder)
