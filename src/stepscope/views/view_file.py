"""Saved views on the disk: one `views.json` in a store, shared by everybody who opens that store.

A change is: take the lock, read what is there now, change one view, put the whole file in place. So two people who save
at once both keep theirs. The file has a checksum and a copy beside it. One that is damaged is set aside under another
name, never written over; its copy is read instead, and the log says so.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from stepscope.errors import BadData, StorageError
from stepscope.files.decoding import MALFORMED
from stepscope.files.opening import read_file
from stepscope.runs.format.filesystem import create_file
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import write_file
from stepscope.runs.format.sealed import seal_of, sealed

__all__ = ["FILE", "SavedView", "change_views", "read_views"]

FILE = "views.json"
_COPY = ".views.copy.json"
_LOCK = ".views.lock"
_LARGEST = 8 << 20
_STALE_S = 10.0
"""A lock that is older was left by a server that died."""
_WAIT_S = 5.0


_DAMAGED = (BadData, *MALFORMED)
_UNREADABLE = (OSError, *_DAMAGED)

log = logging.getLogger("stepscope.server")


class SavedView(msgspec.Struct):
    """A named layout of a page."""

    id: str
    name: str
    page: str
    """The path of the page: `/runs`, `/charts` ..."""
    query: dict[str, str]
    """What the address holds besides the path."""
    project: str = ""
    """Shown in this project; in all of them when empty."""
    default: bool = False
    """How the page opens when the address says nothing."""
    changed: float = 0.0


class _File(msgspec.Struct):
    views: list[SavedView]
    format: int = 1


# Made here and not on first use, which two threads could make at once: msgspec (0.22) then ends the process.
_file_decoder = msgspec.json.Decoder(_File)


def read_views(store: Path) -> list[SavedView]:
    """The views of a store; none where there is no file, or one that is not ours to read."""
    try:
        return _read(store / FILE)
    except FileNotFoundError:
        return []
    except _UNREADABLE as fault:
        return _from_copy(store, fault)


def change_views(store: Path, change: Callable[[list[SavedView]], list[SavedView]]) -> list[SavedView]:
    """Change the views of a store; what others saved meanwhile is kept."""
    file = store / FILE
    try:
        store.mkdir(parents=True, exist_ok=True)
        with _locked(store / _LOCK):
            try:
                views = _read(file)
            except FileNotFoundError:
                views = []
            except _DAMAGED as fault:
                os.replace(file, file.with_name(f"views-unreadable-{new_run_id()}.json"))
                views = _from_copy(store, fault)
            views = change(views)
            data = sealed(msgspec.json.format(msgspec.json.encode(_File(views)), indent=1))
            write_file(file, data)
            write_file(store / _COPY, data)
            return views
    except OSError as fault:
        raise StorageError(f"the views could not be kept in {file}: {fault.strerror or fault}") from None


def _read(file: Path) -> list[SavedView]:
    data = read_file(file, _LARGEST, within=file.parent)
    if seal_of(data) == "damaged":
        raise BadData(f"{file} does not match its checksum")
    return _file_decoder.decode(data).views


def _from_copy(store: Path, fault: Exception) -> list[SavedView]:
    try:
        views = _read(store / _COPY)
    except _UNREADABLE:
        log.warning("the saved views in %s cannot be read (%s), and there is no copy of them", store / FILE, fault)
        return []
    log.warning("the saved views in %s cannot be read (%s); their copy was read instead", store / FILE, fault)
    return views


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One writer at a time, by a file that only one can make: that holds on network file systems too."""
    until = time.monotonic() + _WAIT_S
    while True:
        try:
            os.close(create_file(path))
            break
        except FileExistsError:
            if _age(path) > _STALE_S:
                path.unlink(missing_ok=True)
            elif time.monotonic() > until:
                raise StorageError(f"{path} is held by another server; remove it if none is running") from None
            else:
                time.sleep(0.02)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0
