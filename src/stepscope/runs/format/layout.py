"""Paths in a run folder. docs/design/001-the-run-folder.md has the diagram.

Names on disk consist only of the writer's host, numbers and ids; user-supplied names are content, never paths.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec

from stepscope.errors import BadData
from stepscope.records import RunMeta
from stepscope.runs.format.filesystem import create_file, make_folder, make_store, sync_folder
from stepscope.runs.format.ids import is_run_id, new_run_id
from stepscope.runs.format.sealed import sealed

META = "meta.json"
BLOBS = "blobs"
COMPACT = "compact"
LARGEST_META = 16 << 20
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9-]+")


def log_name(host: str, rank: int, pid: int, boot_id: str, log_id: str, kind: str, segment: int) -> str:
    """The name of one log file. It keeps files apart and helps people; readers use the header inside.

    >>> log_name("gpu/7", 0, 41, "b7c1d0aa-93f2", "01JCQ4", "points", 3)
    'gpu-7.0.41.b7c1d0aa.01JCQ4.points.000003.log'
    """
    safe_host = _NOT_IN_NAMES.sub("-", host)[:40] or "host"
    safe_boot = _NOT_IN_NAMES.sub("", boot_id)[:8] or "0"
    return f"{safe_host}.{rank}.{pid}.{safe_boot}.{log_id}.{kind}.{segment:06d}.log"


def create_run(store: Path, meta: RunMeta) -> Path:
    """Create the folder of a new run with its `meta.json`; rejects an id that exists or is invalid."""
    if not is_run_id(meta.id):
        raise BadData(f"{meta.id!r} is not a run id; ids come from stepscope.runs.format.ids.new_run_id()")
    path = store / meta.id
    make_store(store)
    make_folder(path)
    write_file(path / META, sealed(msgspec.json.format(msgspec.json.encode(meta, enc_hook=str), indent=1)))
    sync_folder(store)
    return path


def write_file(path: Path, data: bytes) -> None:
    """Write a file atomically: readers see the old or the complete new one, even after a power loss."""
    temporary = path.with_name(f".{new_run_id()}.tmp")
    fd = create_file(temporary)
    try:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            os.fsync(fd)
        finally:
            os.close(fd)
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def is_run_folder(path: Path) -> bool:
    """Whether `path` is the folder of a run."""
    return os.path.isfile(path / META)  # also False without permission to look


def run_folders(store: Path) -> list[Path]:
    """The run folders of a store, oldest first."""
    try:
        with os.scandir(store) as entries:
            names = [entry.name for entry in entries if is_run_id(entry.name)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [store / name for name in sorted(names) if is_run_folder(store / name)]


def log_files(path: Path) -> list[Path]:
    """All log files of a run, by name. Found by listing, because NFS may cache a looked-up name as absent."""
    try:
        with os.scandir(path) as entries:
            names = [entry.name for entry in entries if entry.name.endswith(".log") and not entry.name.startswith(".")]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [path / name for name in sorted(names)]
