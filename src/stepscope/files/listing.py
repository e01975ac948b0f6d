"""The files of a folder that somebody else may have made: plain files and folders only, in a fixed order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from stepscope.errors import UnsafeFile

__all__ = ["MOST_FILES", "is_inside", "plain_files", "refused_links"]

MOST_FILES = 1_000_000
"""Files below one folder, beyond which the rest is not looked at: nobody made these by training."""


def plain_files(root: Path, *, enter: Callable[[Path], bool] = lambda folder: True) -> Iterator[Path]:
    """The regular files at any depth below `root`, folder by folder in the order of their names.

    Links are not followed and not listed, nor are pipes, sockets and devices. `enter(folder)` may leave folders out.
    """
    seen = 0
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:  # gone, or not ours to read
            continue
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                seen += 1
                if seen > MOST_FILES:
                    raise UnsafeFile(f"{root} has more than {MOST_FILES:,} files; give a folder with fewer")
                yield Path(entry.path)
        inner = (Path(entry.path) for entry in reversed(entries) if entry.is_dir(follow_symlinks=False))
        waiting += [path for path in inner if enter(path)]


def refused_links(root: Path) -> list[Path]:
    """Links below `root` that lead out of it, for a message: nothing behind them was read."""
    found = []
    for folder, inner, names in os.walk(root):
        for name in (*inner, *names):
            path = Path(folder, name)
            if path.is_symlink() and not is_inside(path, root):
                found.append(path)
    return found


def is_inside(path: Path, root: Path) -> bool:
    """Whether a path, links followed, stays in a folder. To say so in a message; to read, use `open_file(within=)`."""
    try:
        return path.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError):  # a circle of links
        return False
