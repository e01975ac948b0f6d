"""Join the folders that the ranks of one job wrote separately: log names are unique, so joining means moving files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec

from stepscope.errors import Conflict
from stepscope.files.opening import open_file, read_file
from stepscope.runs.format.filesystem import create_file, sync_folder
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import META, is_run_folder, run_folders, write_file
from stepscope.runs.read.folder import open_run

JOB = "job.json"
"""In the folder of a rank that recorded separately: the run it belongs to."""
_LARGEST = 1 << 16


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """The job that a part belongs to."""

    run_id: str
    """The run of rank 0."""
    rank: int


def note_job(part: Path, run_id: str, rank: int) -> None:
    """Record which run this folder is a part of, once the rank knows it."""
    write_file(part / JOB, msgspec.json.encode(Job(run_id=run_id, rank=rank)))


def parts_of(run_id: str, places: list[Path]) -> list[Path]:
    """The folders that are parts of a run: the named ones, and matching ones in each named store."""
    found: list[Path] = []
    for place in places:
        if is_run_folder(place):
            found.append(place)
        else:
            found += [one for one in run_folders(place) if _job_of(one) == run_id]
    return list(dict.fromkeys(found))


def _job_of(part: Path) -> str | None:
    try:
        return msgspec.json.decode(read_file(part / JOB, _LARGEST, within=part), type=Job).run_id
    except (OSError, msgspec.MsgspecError):
        return None


def take_in(run: Path, part: Path) -> int:
    """Move everything from an ended part into the run, then remove the part; returns the number of files."""
    count = 0
    for path in _files(part):
        target = run / path.relative_to(part)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.rename(path, _free(target, path))
        except FileNotFoundError:  # another rank is moving the same files
            continue
        except OSError:
            _copy(path, target, part)
        count += 1
    sync_folder(run)
    shutil.rmtree(part, ignore_errors=True)
    return count


def copy_in(run: Path, part: Path) -> int:
    """Copy what the run lacks from a part; returns the number of files. Safe to repeat."""
    if run.resolve() == part.resolve():
        return 0
    if open_run(part).status == "running":
        raise Conflict(f"{part} is still being written; merge it when its rank has ended")
    count = 0
    for path in _files(part):
        target = run / path.relative_to(part)
        if not _is_there(target, path):
            target.parent.mkdir(parents=True, exist_ok=True)
            _copy(path, target, part)
            count += 1
    sync_folder(run)
    return count


def _files(part: Path) -> Iterator[Path]:
    """All files of a part except those that only describe it."""
    for folder, _, names in os.walk(part):
        for name in sorted(names):
            path = Path(folder, name)
            is_about_part = path.parent == part and name in (META, JOB)
            if path.is_file() and not path.is_symlink() and not name.startswith(".") and not is_about_part:
                yield path


def _is_there(target: Path, path: Path) -> bool:
    try:
        return target.stat().st_size == path.stat().st_size
    except OSError:
        return False


def _free(target: Path, path: Path) -> Path:
    """Log names are unique; any other name taken by different content gets a new one."""
    if not target.exists() or _is_there(target, path):
        return target
    return target.with_name(f"{target.stem}.{new_run_id()}{target.suffix}")


def _copy(path: Path, target: Path, within: Path) -> None:
    """Copy a file atomically."""
    temporary = target.with_name(f".{new_run_id()}.tmp")
    try:
        with open_file(path, within=within) as source, open(create_file(temporary), "wb") as copy:
            shutil.copyfileobj(source, copy)
        os.replace(temporary, _free(target, path))
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
