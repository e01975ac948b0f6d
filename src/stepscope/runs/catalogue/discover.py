"""Find run folders by listing: in a store, in folders of stores, or a single run folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from stepscope.runs.format.ids import is_run_id
from stepscope.runs.format.layout import BLOBS, COMPACT, META, is_run_folder

_DEPTH = 2
"""Maximum depth of runs below a store: `team/project/<run>`."""
_MOST_FOLDERS = 5000
"""Maximum number of other folders searched, so that naming a home folder by mistake ends soon."""


_NOT_THERE = (FileNotFoundError, NotADirectoryError, PermissionError)
"""Errors for folders that are gone or unreadable."""


class Found(NamedTuple):
    """A run folder: its path, its path relative to the store, and its `stat`."""

    path: str
    folder: str
    stat: os.stat_result


def find_run_folders(store: Path) -> Iterator[Found]:
    """All run folders of a store, unordered. A store that does not exist yet has none.

    Raises `OSError` when the listing fails for another reason (too many open files, an unresponsive disk): no run may
    then be considered deleted. A folder named by a run id is assumed to be a run without looking inside; the reader
    notices if it is not.
    """
    try:
        if (store / META).is_file():
            yield Found(str(store), ".", store.stat())
            return
    except _NOT_THERE:
        return
    yield from _below(str(store), "", _DEPTH, [_MOST_FOLDERS])


def find_run_folder(store: Path, run_id: str) -> Path | None:
    """The folder named by a run id, without searching others; None if there is none."""
    direct = store / run_id
    if is_run_folder(direct):
        return direct
    return next((Path(found.path) for found in find_run_folders(store) if os.path.basename(found.path) == run_id), None)


def _below(path: str, prefix: str, depth: int, left: list[int]) -> Iterator[Found]:
    try:
        with os.scandir(path) as listing:
            for entry in listing:
                if not entry.name.startswith("."):
                    yield from _at(entry, prefix, depth, left)
    except _NOT_THERE:
        return


def _at(entry: os.DirEntry[str], prefix: str, depth: int, left: list[int]) -> Iterator[Found]:
    name = entry.name
    try:
        if is_run_id(name):
            yield Found(entry.path, prefix + name, entry.stat())
        elif entry.is_dir() and name not in (BLOBS, COMPACT) and left[0] > 0:
            left[0] -= 1
            if os.path.isfile(os.path.join(entry.path, META)):
                yield Found(entry.path, prefix + name, entry.stat())
            elif depth:
                yield from _below(entry.path, f"{prefix}{name}/", depth - 1, left)
    except _NOT_THERE:
        return
