"""Find run folders: by listing, in a store, in folders of stores, or the one that was named itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from stepscope.runs.format.ids import is_run_id
from stepscope.runs.format.layout import BLOBS, COMPACT, META, is_run_folder

__all__ = ["Found", "find_run_folder", "find_run_folders"]

_DEPTH = 2
"""How many folders may lie between a store and what is in it: `team/project/<run>`."""
_MOST_FOLDERS = 5000
"""How many folders that are no runs are looked into, so that naming a home folder by mistake ends soon."""


_NOT_THERE = (FileNotFoundError, NotADirectoryError, PermissionError)
"""Gone, or not ours to read."""


class Found(NamedTuple):
    """A run folder: its path, the same below the store, and what one `stat` says of it."""

    path: str
    folder: str
    stat: os.stat_result


def find_run_folders(store: Path) -> Iterator[Found]:
    """All run folders of a store, in no particular order. A store that is not there (yet) has none.

    Raises `OSError` when the listing fails for another reason (too many open files, a disk that does not answer): then
    nobody knows which runs there are, and none may be taken for gone. A folder named by a run id is taken for a run
    without looking into it; the reader finds out if it is none.
    """
    try:
        if (store / META).is_file():
            yield Found(str(store), ".", store.stat())
            return
    except _NOT_THERE:
        return
    yield from _below(str(store), "", _DEPTH, [_MOST_FOLDERS])


def find_run_folder(store: Path, run_id: str) -> Path | None:
    """The folder that is named by a run's id, without looking into any other; None where there is none."""
    direct = store / run_id
    if is_run_folder(direct):
        return direct
    return next((Path(found.path) for found in find_run_folders(store) if os.path.basename(found.path) == run_id), None)


def _below(path: str, prefix: str, depth: int, left: list[int]) -> Iterator[Found]:
    try:
        with os.scandir(path) as listing:
            entries = list(listing)
    except _NOT_THERE:
        return
    for entry in entries:
        name = entry.name
        if name.startswith("."):
            continue
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
            continue
