"""Bring runs back from a server: what is missing here is added, and nothing that is here is changed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stepscope.errors import BadData, Conflict, StorageError
from stepscope.files.opening import plain_size
from stepscope.runs.compact.compact import covered_files
from stepscope.runs.format.layout import META
from stepscope.runs.trash import TRASH
from stepscope.sync.keep import Keep
from stepscope.sync.push import Pushed
from stepscope.sync.remote import Remote
from stepscope.sync.wire import check_name, is_log

__all__ = ["pull"]


def pull(remote: Remote, store: Path, runs: Iterable[str] | None = None) -> Pushed:
    """Fetch these runs, or all; those in the trash here stay there. `bytes` counts what was not here before."""
    keep, done = Keep(store), Pushed()
    for run in remote.runs() if runs is None else runs:
        if (store / TRASH / run).exists():
            continue
        _pull_run(run, remote, keep, done)
        done.runs += 1
    return done


def _pull_run(run: str, remote: Remote, keep: Keep, done: Pushed) -> None:
    folder = keep.folder_of(run)
    held = remote.held(run).files
    compacted = covered_files(folder)
    for name in sorted(held, key=lambda name: (name != META, is_log(name), name)):
        here = plain_size(folder / check_name(name)) or 0
        if here >= held[name] or (is_log(name) and _file_id(name) in compacted):
            continue
        if here and not is_log(name):
            done.problems[f"{run}/{name}"] = "it has other content on the server; the one here is kept"
            continue
        try:
            done.bytes += _pull_file(run, name, here, remote, keep)
        except (Conflict, BadData, StorageError) as fault:
            done.problems[f"{run}/{name}"] = str(fault).replace("on the server", "here")


def _pull_file(run: str, name: str, here: int, remote: Remote, keep: Keep) -> int:
    began = here
    while (piece := remote.read(run, name, here)).data:
        stored = keep.add(run, name, here, piece.data, before=piece.before, sha256=piece.sha256, size=piece.size)
        if stored.size <= here:
            raise BadData(f"the server sent a piece of {name} that does not continue what is here; try again later")
        here = stored.size
    return here - began


def _file_id(name: str) -> str:
    """What the header of a log calls it, from its name: `<log>.<kind>.<segment>`."""
    parts = name.split(".")
    return f"{parts[-4]}.{parts[-3]}.{int(parts[-2])}" if len(parts) > 4 and parts[-2].isdecimal() else ""
