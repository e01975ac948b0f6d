"""Saved views on disk: one `views.json` per store, shared by everyone who opens it.

A change takes the lock, reads the current file, changes one view and replaces the whole file, so that concurrent saves
are both kept. The file has a checksum and a copy beside it. A damaged file is renamed, never overwritten; its copy is
read instead, with a log message.
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

FILE = "views.json"
_COPY = ".views.copy.json"
_LOCK = ".views.lock"
_LARGEST = 8 << 20
_STALE_S = 10.0
"""An older lock was left by a server that died."""
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
    """The query part of the address."""
    project: str = ""
    """Shown in this project; in all of them if empty."""
    default: bool = False
    """The page's default layout."""
    changed: float = 0.0


class _File(msgspec.Struct):
    views: list[SavedView]
    format: int = 1


# Created at import, not on first use: if two threads create one at the same time, msgspec (0.22) kills the process.
_file_decoder = msgspec.json.Decoder(_File)


def read_views(store: Path) -> list[SavedView]:
    """The views of a store; empty if there is no file, or it is unreadable."""
    try:
        return _read(store / FILE)
    except FileNotFoundError:
        return []
    except _UNREADABLE as fault:
        return _from_copy(store, fault)


def change_views(store: Path, change: Callable[[list[SavedView]], list[SavedView]]) -> list[SavedView]:
    """Change the views of a store; concurrent changes by others are kept."""
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
        raise StorageError(
            f"the views could not be saved in {file}: {fault.strerror or fault}; free some space, or "
            "make the folder writable"
        ) from None


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
    """One writer at a time, through an exclusively created file, which also works on network file systems."""
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
