"""Bring runs back from a server: what is missing here is added, and nothing that is here is changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from stepscope.errors import BadData, Conflict, StepscopeError, StorageError
from stepscope.files.opening import plain_size
from stepscope.runs.compact.compact import covered_files
from stepscope.runs.format.layout import COMPACT, META, is_run_folder
from stepscope.runs.read.folder import open_run
from stepscope.runs.trash import TRASH
from stepscope.sync.keep import Keep
from stepscope.sync.push import Pushed
from stepscope.sync.remote import Remote
from stepscope.sync.wire import Fate, check_name, file_id, is_log

AGAIN_S = 600.0
"""An ended run to which nothing was added there is asked for this often all the same: a late log may have grown."""


class Fetched:
    """Remembers, from one pass to the next, ended runs that are complete here."""

    def __init__(self, store: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.store, self.keep, self._clock = store, Keep(store), clock
        self._known: dict[str, tuple[int, float]] = {}

    def has(self, run: str, changed: int) -> bool:
        stamp, until = self._known.get(run, (0, 0.0))
        return changed > 0 and stamp == changed and self._clock() < until and (self.store / run).is_dir()

    def note(self, run: str, changed: int) -> None:
        try:
            if open_run(self.store / run).status != "running":
                self._known[run] = (changed, self._clock() + AGAIN_S)
        except StepscopeError:
            pass  # it is asked for again


def pull(
    remote: Remote, fetched: Fetched | Path, runs: Iterable[str] | None = None, stop: Callable[[], bool] = lambda: False
) -> Pushed:
    """Fetch these runs, or all, the newest first; those in the trash here stay there.

    `fetched` is where to, or what is known from the pass before. `bytes` counts what was not here before. `stop` is
    asked before each run.
    """
    known = fetched if isinstance(fetched, Fetched) else Fetched(fetched)
    keep, done, changed = known.keep, Pushed(), dict[str, int]()
    if runs is None:
        there = remote.runs()
        runs = sorted(there.runs, reverse=True)  # ids begin with the time
        changed = dict(zip(there.runs, there.changed, strict=False))
        for run, when in there.deleted.items():
            done.deleted += _delete_too(run, when, keep)
    for run in runs:
        if stop():
            break
        stamp = changed.get(run, 0)
        if known.has(run, stamp) or (known.store / TRASH / run).exists():
            continue
        problems = len(done.problems)
        _pull_run(run, remote, keep, done)
        done.runs += 1
        if len(done.problems) == problems:
            known.note(run, stamp)
    return done


def _delete_too(run: str, when: float, keep: Keep) -> bool:
    """Move a run to the trash that was deleted on the server, unless it is active, or was restored here since."""
    folder = keep.folder_of(run)
    try:
        if not is_run_folder(folder) or open_run(folder).status == "running":
            return False
        return keep.fates.follow(run, Fate(deleted=when)) is not None
    except StepscopeError:
        return False  # what cannot be read or moved stays


def _pull_run(run: str, remote: Remote, keep: Keep, done: Pushed) -> None:
    folder = keep.folder_of(run)
    answer = remote.held(run)
    held = answer.files
    compacted = covered_files(folder)
    complete = all(
        (plain_size(folder / name) or 0) >= size or file_id(name) in compacted
        for name, size in answer.compacted.items()
    )
    if complete:  # what the server made of these logs, and may have thinned since
        held = {name: size for name, size in held.items() if not (answer.compacted and name.startswith(f"{COMPACT}/"))}
    for name in sorted(held, key=lambda name: (name != META, is_log(name), name)):
        here = plain_size(folder / check_name(name)) or 0
        if here >= held[name] or (is_log(name) and file_id(name) in compacted):
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
