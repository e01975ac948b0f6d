"""Reports on disk: `<store>/reports/<id>/000001.md`, one file per version, never changed once written.

So a folder under git or on a share shows the history, any editor can read it, and concurrent saves get two versions
and a clear message. A deleted report is moved to `reports/.trash` and can be restored.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from stepscope.errors import BadData, Conflict, Forbidden, NotFound, StorageError, UsageError
from stepscope.files.opening import read_file
from stepscope.runs.format.filesystem import create_file, make_common_folder, make_folder, sync_folder
from stepscope.runs.format.layout import is_run_folder
from stepscope.runs.format.sidecar import is_as_written, note_checksum

FOLDER = "reports"
TRASH = ".trash"
MAX_BYTES = 2_000_000
"""Maximum size of one version's text."""
MAX_REPORTS = 10_000
_CHANGED = "> **Not as saved:** this version was changed later, by hand or by a disk error."
_ID = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,70}[a-z0-9])?")
_VERSION = re.compile(r"(\d{6,9})\.md")
_LETTERS = "abcdefghjkmnpqrstvwxyz23456789"


@dataclass(frozen=True)
class Version:
    """One saved text."""

    number: int
    path: Path
    time: float
    bytes: int
    author: str


@dataclass(frozen=True)
class Found:
    """A report's folder."""

    id: str
    path: Path
    deleted: bool = False

    def versions(self) -> list[Version]:
        """Oldest first. Only plain files count."""
        found = []
        for entry in _listing(self.path):
            match = _VERSION.fullmatch(entry.name)
            if match is None:
                continue
            try:
                about = entry.stat(follow_symlinks=False)
            except OSError:  # deleted meanwhile
                continue
            if stat.S_ISREG(about.st_mode):
                path = Path(entry.path)
                found.append(Version(int(match[1]), path, about.st_mtime, about.st_size, _owner(about)))
        return sorted(found, key=lambda one: one.number)

    def version(self, number: int | None = None) -> Version:
        """One version; the newest by default."""
        versions = self.versions()
        if not versions:
            raise NotFound(f"the report {self.id!r} has no version that can be read; restore its folder from a backup")
        if number is None:
            return versions[-1]
        for one in versions:
            if one.number == number:
                return one
        raise NotFound(f"the report {self.id!r} has no version {number}; it has 1 to {versions[-1].number}")


def read(version: Version) -> str:
    """The text of a version, even if another program wrote the file: invalid UTF-8 becomes visible."""
    try:
        data = read_file(version.path, MAX_BYTES, within=version.path.parent)
    except OSError as error:
        raise BadData(f"version {version.number} of the report cannot be read: {error.strerror}") from error
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    return text if is_as_written(version.path, data) else f"{_CHANGED}\n\n{text}"


def is_report_id(text: str) -> bool:
    """Whether `text` has the shape of an id, and so is safe as a folder name."""
    return _ID.fullmatch(text) is not None


def folders_of(stores: Iterable[Path]) -> list[Path]:
    """Where the reports of some stores are. A store that is a single run has its reports beside that run."""
    found = [(store.parent if is_run_folder(store) else store) / FOLDER for store in stores]
    return list(dict.fromkeys(found))


def reports_in(stores: Iterable[Path], deleted: bool = False) -> list[Found]:
    """All reports, or all deleted ones. If two stores have the same id, the first counts."""
    found: dict[str, Found] = {}
    for folder in folders_of(stores):
        for entry in _listing(folder / TRASH if deleted else folder):
            if is_report_id(entry.name) and entry.is_dir(follow_symlinks=False) and len(found) < MAX_REPORTS:
                found.setdefault(entry.name, Found(entry.name, Path(entry.path), deleted))
    return [one for one in found.values() if one.versions()]


def find(stores: Iterable[Path], id: str, deleted: bool = False) -> Found:
    """The report with this id."""
    for folder in folders_of(stores) if is_report_id(id) else []:
        path = folder / TRASH / id if deleted else folder / id
        if path.is_dir() and not path.is_symlink():
            return Found(id, path, deleted)
    where = "among the deleted reports" if deleted else "here"
    raise NotFound(f"there is no report {id[:100]!r} {where}")


def save(stores: Sequence[Path], text: str, title: str, id: str | None = None, base: int = 0) -> tuple[Found, Version]:
    """Save a text: as a new report, or as the next version of one. `base` is the version it is based on."""
    data = text.encode("utf-8", "replace")
    if len(data) > MAX_BYTES:
        raise UsageError(f"the report has {len(data):,} bytes; the maximum is {MAX_BYTES:,}; split it in two")
    try:
        if id is None:
            return _first(stores, data, title)
        found = find(stores, id)
        newest = max((one.number for one in found.versions()), default=0)
        if newest != base:
            raise Conflict(_newer(newest, base))
        return found, _write(found, newest + 1, data)
    except OSError as error:
        raise _storage(error) from error


def delete(stores: Sequence[Path], id: str) -> Found:
    """Move a report to the trash, with all its versions."""
    found = find(stores, id)
    trash = found.path.parent / TRASH
    try:
        make_common_folder(trash)
        return _moved(found, trash, deleted=True)
    except OSError as error:
        raise _storage(error) from error


def restore(stores: Sequence[Path], id: str) -> Found:
    """Restore a deleted report."""
    found = find(stores, id, deleted=True)
    try:
        return _moved(found, found.path.parent.parent, deleted=False)
    except OSError as error:
        raise _storage(error) from error


def writable(stores: Iterable[Path]) -> bool:
    """Whether a new report can be saved somewhere."""
    return any(_can_write(folder) for folder in folders_of(stores))


def can_change(found: Found) -> bool:
    """Whether this user may add a version to a report."""
    return os.access(found.path, os.W_OK | os.X_OK)


def _moved(found: Found, target: Path, deleted: bool) -> Found:
    if (target / found.id).exists():
        raise Conflict(f"there is already a report {found.id!r} where this one would go")
    found.path.rename(target / found.id)
    sync_folder(target)
    return Found(found.id, target / found.id, deleted)


def _first(stores: Sequence[Path], data: bytes, title: str) -> tuple[Found, Version]:
    for folder in folders_of(stores):
        if _can_write(folder):
            folder.parent.mkdir(parents=True, exist_ok=True)
            make_common_folder(folder)
            id = new_id(title)
            make_folder(folder / id)
            found = Found(id, folder / id)
            return found, _write(found, 1, data)
    raise Forbidden(
        "none of the folders with runs is writable, so no report can be saved here; make one of them writable"
    )


def _write(found: Found, number: int, data: bytes) -> Version:
    """Write the file atomically; an existing number is never overwritten."""
    path = found.path / f"{number:06d}.md"
    temporary = found.path / f".{secrets.token_hex(8)}.tmp"
    handle = create_file(temporary)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _put(temporary, path, data)
    except FileExistsError as error:
        raise Conflict(_newer(number, number - 1)) from error
    finally:
        temporary.unlink(missing_ok=True)
    note_checksum(path, data)
    sync_folder(found.path)
    about = path.stat()
    return Version(number, path, about.st_mtime, about.st_size, _owner(about))


def _put(temporary: Path, path: Path, data: bytes) -> None:
    try:
        os.link(temporary, path)
        return
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        handle = create_file(path)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def new_id(title: str) -> str:
    """A new id that is meaningful to people, and never mistaken for a run's."""
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40].strip("-") or "report"
    return f"{words}-{''.join(secrets.choice(_LETTERS) for _ in range(6))}"


def _newer(newest: int, base: int) -> str:
    return (
        f"version {newest} of this report was saved after version {base}, which you started from; "
        "open it, merge both texts and save again"
    )


def _can_write(folder: Path) -> bool:
    """Of the nearest existing parent folder: the others can be created."""
    for path in (folder, *folder.parents):
        if path.exists():
            return path.is_dir() and os.access(path, os.W_OK | os.X_OK)
    return False


def _listing(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:  # not there (yet), or not accessible
        return []


def _owner(about: os.stat_result) -> str:
    """The file's owner, by name."""
    try:
        import pwd

        return pwd.getpwuid(about.st_uid).pw_name
    except (ImportError, KeyError):
        return ""


def _storage(error: OSError) -> StorageError:
    return StorageError(f"the report could not be written: {error.strerror or error}")
