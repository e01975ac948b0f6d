"""List an untrusted folder: plain files and folders only, in a fixed order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from stepscope.errors import UnsafeFile

MOST_FILES = 1_000_000
"""Maximum number of files below one folder; no training produces more."""


def plain_files(root: Path, *, enter: Callable[[Path], bool] = lambda folder: True) -> Iterator[Path]:
    """The regular files at any depth below `root`, folder by folder in name order.

    Links, pipes, sockets and devices are neither followed nor listed. `enter(folder)` can exclude folders.
    """
    seen = 0
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:  # gone, or not readable
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
    """Whether a path, with links resolved, stays in a folder. For messages only; to read, use `open_file(within=)`."""
    try:
        return path.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError):  # a cycle of links
        return False
