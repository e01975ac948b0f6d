"""Continue an earlier run: a new attempt, from the step after the last recorded one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from stepscope.errors import Ambiguous, BadData, NotFound
from stepscope.records import RunMeta
from stepscope.runs.format.ids import is_run_id
from stepscope.runs.format.layout import is_run_folder, run_folders
from stepscope.runs.format.meta import read_meta
from stepscope.runs.format.writer_identity import boot_id, host_name, process_started
from stepscope.track.config import masked
from stepscope.track.messages import say

if TYPE_CHECKING:
    from stepscope.runs.read.folder import RunFolder


class Past(NamedTuple):
    """The state of a resumed run."""

    attempt: int
    """The number of the new attempt."""
    next_step: int
    config: dict[str, Any]
    meta: RunMeta
    """The run's original config, with later changes."""


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
    found = found or [each for each in folders if _name(each) == text]
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(each.name for each in found[-5:])
        raise Ambiguous(f"{text!r} matches {len(found)} runs in {store}: {listed}; give the id of one of them")
    raise NotFound(f"there is no run {text!r} in {store}; give its path, its id or its name, or omit resume")


def newest_like(store: Path, project: str, name: str | None, unfinished: bool) -> Path | None:
    """The newest run of a project (and name), if any; with `unfinished`, one that did not finish."""
    for path in reversed(run_folders(store)):
        try:
            meta = read_meta(path)
        except (BadData, OSError):
            continue
        if meta.project == project and (name is None or _name(path) == name):
            return path if not unfinished or _is_unfinished(path) else None
    return None


def _name(path: Path) -> str | None:
    """A run's current name, or None if it cannot be read."""
    from stepscope.runs.read.folder import RunFolder

    try:
        return RunFolder(path).name
    except (BadData, OSError):
        return None


def _is_unfinished(path: Path) -> bool:
    from stepscope.runs.read.folder import RunFolder

    folder = RunFolder(path)
    return folder.status != "finished" and not _is_alive(folder)


def _is_alive(folder: RunFolder) -> bool:
    """Whether a process still writes to the run. A heartbeat stays fresh for half a minute too long; the local machine
    knows better.
    """
    if folder.status != "running":
        return False
    newest = max((header.attempt for header in folder.files), default=0)
    writers = [header for header in folder.files if header.attempt == newest and header.role == "run"]
    return any(
        (header.host, header.boot_id) != (host_name(), boot_id())
        or abs(process_started(header.pid) - header.pid_started) < 1.0
        for header in writers
    )


def past_of(path: Path) -> Past:
    """What the earlier attempts of a run left."""
    from stepscope.runs.read.folder import RunFolder

    folder = RunFolder(path)
    if _is_alive(folder):
        say(f"run {path.name} is reported as still running ({folder.status_detail}); both processes now write to it")
    return Past(
        attempt=max((header.attempt for header in folder.files), default=-1) + 1,
        next_step=_next_step(folder),
        config=folder.config,
        meta=msgspec.structs.replace(folder.meta, name=folder.name, notes=folder.notes, tags=folder.tags),
    )


def _next_step(folder: RunFolder) -> int:
    """The step after the last one at which the training, not the system metrics, logged anything."""
    names = [name for name in folder.metrics() if not name.startswith("system/")]
    steps = [folder.metric_summary(name).last_step for name in names]
    steps += [media.step for media in folder.media()]
    return max((step for step in steps if step is not None), default=-1) + 1


def changed_settings(past: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """Settings that differ from the recorded ones, compared as written, with secrets masked."""
    shown = masked(now)
    return {name: value for name, value in now.items() if name not in past or past[name] != shown[name]}
