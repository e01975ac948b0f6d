"""Continue a run that was made before: a new attempt, from the step after the last one recorded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from stepscope.errors import Ambiguous, NotFound, UsageError
from stepscope.records import RunMeta
from stepscope.runs.ids import is_run_id
from stepscope.runs.layout import is_run_folder, log_files, read_meta, run_folders

__all__ = ["Past", "find_run", "meta_now", "newest_like", "past_of"]


class Past(NamedTuple):
    """What is known of a run that goes on."""

    attempt: int
    """The number of the new attempt."""
    next_step: int
    config: dict[str, Any]
    name: str
    notes: str
    tags: list[str]


def find_run(store: Path, reference: str | os.PathLike[str]) -> Path:
    """The folder of the run that `reference` names: a path, an id, the beginning of one, or a run's name."""
    path = Path(reference)
    if is_run_folder(path):
        return path
    text = str(reference)
    if is_run_id(text) and is_run_folder(store / text):
        return store / text
    folders = run_folders(store)
    found = [each for each in folders if len(text) >= 4 and each.name.startswith(text.upper())]
    found = found or [each for each in folders if read_meta(each).name == text]
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(each.name for each in found[-5:])
        raise Ambiguous(f"{text!r} fits {len(found)} runs in {store}: {listed}; give the id of one of them")
    raise NotFound(f"there is no run {text!r} in {store}; give its path, its id or its name, or leave resume out")


def newest_like(store: Path, project: str, name: str | None, unfinished: bool) -> Path | None:
    """The newest run of a project (and name), if there is one; with `unfinished`, one that did not end well."""
    for path in reversed(run_folders(store)):
        meta = read_meta(path)
        if meta.project != project or (name is not None and meta.name != name):
            continue
        return path if not unfinished or _is_unfinished(path) else None
    return None


def _is_unfinished(path: Path) -> bool:
    from stepscope.runs.folder import RunFolder

    return RunFolder(path).status not in ("finished", "running")


def past_of(path: Path) -> Past:
    """What the earlier attempts of a run left."""
    from stepscope.runs.folder import RunFolder

    folder = RunFolder(path)
    if folder.status == "running":
        raise UsageError(f"run {path.name} is still running; stop it before resuming it, or start another run")
    meta = folder.meta
    last = folder.last_step
    return Past(
        attempt=_last_attempt(path) + 1,
        next_step=0 if last is None else last + 1,
        config=dict(folder.config),
        name=folder.name,
        notes=folder.notes,
        tags=list(folder.tags) if folder.tags is not None else list(meta.tags),
    )


def _last_attempt(path: Path) -> int:
    from stepscope.runs.logs import LogReader

    newest = 0
    for file in log_files(path):
        reader = LogReader(file)
        reader.poll()
        if reader.header is not None:
            newest = max(newest, reader.header.attempt)
    return newest


def meta_now(path: Path, past: Past) -> RunMeta:
    """What the run is now: as it was made, with the changes since."""
    return msgspec.structs.replace(read_meta(path), name=past.name, notes=past.notes, tags=past.tags)
