"""A writable copy of an `.aim` folder: opening one with Aim leaves files in it.

RocksDB tables never change once written, so they are linked; the rest is small and copied. Aim's index is omitted:
it may be older than the runs, and without it Aim reads the runs themselves.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from stepscope.files.opening import open_file, plain_size

_LEFT_OUT = ("LOCK", "LOG")


def mirrored(source: Path, target: Path) -> None:
    """Make `target` look like the `.aim` folder `source`."""
    for folder, inner, files in os.walk(source):
        here = Path(folder)
        if here.parent == source:
            inner[:] = [name for name in inner if name not in ("index", "progress")]
        if here == source:
            inner[:] = [name for name in inner if name not in ("locks", "check_ins")]
        there = target / here.relative_to(source)
        there.mkdir(parents=True, exist_ok=True)
        for name in files:
            _stand_in(here / name, there / name)


def _stand_in(file: Path, target: Path) -> None:
    try:
        if plain_size(file) is None:  # a link or a pipe: Aim creates none
            return
        if file.suffix == ".sst":
            target.symlink_to(file.absolute())
        elif file.name not in _LEFT_OUT and not file.name.startswith("LOG.old"):
            with open_file(file, within=file.parent) as stream, target.open("xb") as copy:
                shutil.copyfileobj(stream, copy)
    except FileNotFoundError:  # RocksDB has compacted meanwhile; its new files are there
        return


def newest_change(source: Path) -> int:
    """When anything in the runs was last written, in nanoseconds."""
    newest = 0
    for part in ("meta/chunks", "seqs/chunks", "run_metadata.sqlite"):
        top = source / part
        paths = [top, *top.rglob("*")] if top.is_dir() else [top]
        for path in paths:
            try:
                newest = max(newest, path.stat().st_mtime_ns)
            except OSError:
                continue
    return newest
