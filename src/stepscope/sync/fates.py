"""Which runs of a store were deleted and restored, and when: a deletion travels, and nothing comes back by itself.

The trash says what is deleted now. What has left the trash permanently is remembered in a list beside it, and the time
at which a run was restored is in its folder; of a deletion here and a restoration there, the later one counts.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from stepscope.errors import StepscopeError
from stepscope.files.opening import read_text
from stepscope.runs.format.filesystem import create_file, sync_data
from stepscope.runs.format.ids import is_run_id
from stepscope.runs.format.layout import META, is_run_folder
from stepscope.runs.trash import Trashed, move_to_trash, restore, restored_at, trashed_runs
from stepscope.sync.wire import Fate

LIST = ".deleted"
_LARGEST = 256 << 20


class Fates:
    def __init__(self, store: Path) -> None:
        self._store = store

    def deleted(self, run: str) -> float | None:
        """When a run was deleted that is not here now; None for one that is here, or never was."""
        if (self._store / run / META).exists():
            return None
        found = next((one.deleted for one in trashed_runs([self._store]) if one.id == run), None)
        return found if found is not None else self._listed().get(run)

    def every(self) -> dict[str, float]:
        """All runs that were deleted here and are not here now."""
        found = {**self._listed(), **{one.id: one.deleted for one in trashed_runs([self._store])}}
        return {run: when for run, when in found.items() if not is_run_folder(self._store / run)}

    def note(self) -> None:
        """Remember what is in the trash, before it is removed permanently."""
        listed = self._listed()
        new = [one for one in trashed_runs([self._store]) if one.id not in listed]
        self._append({one.id: one.deleted for one in new})

    def follow(self, run: str, fate: Fate) -> float | None:
        """Do what somebody did elsewhere, unless something later was done here; when it is deleted now."""
        folder = self._store / run
        here = self.deleted(run)
        if fate.deleted is not None and here is None and is_run_folder(folder):
            if (restored_at(folder) or 0.0) < fate.deleted:
                move_to_trash(folder, now=min(fate.deleted, time.time()))
                self.note()
        elif fate.restored is not None and here is not None and fate.restored > here:
            trashed = self._in_trash(run)
            if trashed is not None:
                restore(trashed, now=fate.restored)
            else:
                self._append({run: 0.0})  # its files are removed permanently: they may be sent again
        return self.deleted(run)

    def _in_trash(self, run: str) -> Trashed | None:
        return next((one for one in trashed_runs([self._store]) if one.id == run), None)

    def _listed(self) -> dict[str, float]:
        try:
            lines = read_text(self._store / LIST, _LARGEST, within=self._store).splitlines()
        except FileNotFoundError:
            return {}
        found: dict[str, float] = {}
        for line in lines:
            run, _, when = line.partition(" ")
            try:
                found[run] = float(when)
            except ValueError:
                continue  # half a line of a crash
        return {run: when for run, when in found.items() if is_run_id(run) and when > 0}

    def _append(self, lines: dict[str, float]) -> None:
        if not lines:
            return
        path = self._store / LIST
        fd = os.open(path, os.O_WRONLY | os.O_APPEND) if path.exists() else create_file(path)
        try:
            os.write(fd, "".join(f"{run} {when!r}\n" for run, when in lines.items()).encode())
            sync_data(fd)
        finally:
            os.close(fd)


def local_fates(store: Path, runs: list[Path]) -> dict[str, Fate]:
    """What was deleted or restored in a store of this machine."""
    found = {one.id: Fate(deleted=one.deleted) for one in trashed_runs([store]) if one.folder == one.id}
    for run in runs:
        try:
            when = restored_at(run)
        except (StepscopeError, OSError):
            continue
        if when is not None:
            found[run.name] = Fate(restored=when)
    return found
