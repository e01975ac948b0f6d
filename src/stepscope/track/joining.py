"""How a rank finds the run that rank 0 creates, without waiting for it.

What the rank logs stays in memory until rank 0's note appears, for a few seconds at most; its script runs meanwhile. A
rank that finds none in time, or ends before, uses a separate folder. Whichever of them and rank 0 ends later moves
those files into the run; on separate disks `stepscope merge` does.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

from stepscope import fence
from stepscope.common import clocks
from stepscope.errors import NotFound
from stepscope.runs.format.writer_identity import process_age_s
from stepscope.runs.write.home import Home
from stepscope.track import node, ranks

REMOTE_LOOK_S = 0.05
"""Polling interval on a network file system."""


class Joining:
    """Called by the writer of a rank above 0 to find its folder; never waits."""

    def __init__(
        self,
        store: Path,
        place: ranks.Place,
        turn: int,
        own: Callable[[], Path | None],
    ) -> None:
        self._store, self._place, self._turn = store, place, turn
        self._own = own
        self._arrived: Callable[[Home], None] | None = None
        self._home: Home | None = None
        self._began = clocks.time() - process_age_s()
        self._deadline = clocks.monotonic() + _patience_s()
        self._next_look = 0.0
        self.own_folder: Path | None = None
        """The folder of this rank alone, where it found no other."""
        self._job: str | None = None
        self.shared: Path | None = None
        """The folder of the run, where this rank's own logs stay on its node."""

    def __call__(self, final: bool) -> Home | None:
        home = self._common(final) or (self._alone() if final or clocks.monotonic() >= self._deadline else None)
        self._home = home
        if home is not None and self._arrived is not None:
            fence.call("joining the run of rank 0", self._arrived, home)
        return home

    def when_arrived(self, do: Callable[[Home], None]) -> None:
        """Call `do` with the folder as soon as it is known, on any thread; twice if that happens right now."""
        self._arrived = do
        if self._home is not None:
            do(self._home)

    def _common(self, final: bool) -> Home | None:
        now = clocks.monotonic()
        if now < self._next_look and not final:
            return None
        self._next_look = now + (REMOTE_LOOK_S if ranks.is_on_network(self._store) else 0.0)
        note = ranks.find_note(self._store, self._place, self._turn, self._began)
        if note is None:
            return None
        run = self._store / note.run_id
        local = node.local_folder(run) if node.is_led(self._place) else None
        if local is not None:
            self.shared = run
        return Home(local or run, note.run_id, note.attempt)

    def _alone(self) -> Home:
        path = self._own()
        if path is None:
            raise OSError(errno.EROFS, "no run folder can be created")
        self.own_folder = path
        self._note_job()
        if path.parent == self._store:
            ranks.leave_part(self._store, self._place, self._turn, path.name)
        return Home(path, path.name, 0)

    def learn_job(self, run_id: str) -> None:
        """The run of rank 0, as the ranks say among themselves: `stepscope merge` finds a folder apart by it."""
        self._job = run_id
        self._note_job()

    def _note_job(self) -> None:
        if self._job is not None and self.own_folder is not None:
            from stepscope.runs.merge import note_job  # numpy: not before a script that may not need it

            note_job(self.own_folder, self._job, self._place.rank)

    def join_late(self) -> None:
        """This rank's files are closed: move them to the run of rank 0, if it has appeared since."""
        if self.own_folder is None:
            return
        home = self._common(final=True)
        if home is not None:
            adopt_parts(home.path, self._place, self._turn, only=self.own_folder)


def adopt_parts(run: Path, place: ranks.Place, turn: int, only: Path | None = None) -> None:
    """Move into the run what ended ranks of its job have written to separate folders."""
    parts = ranks.parts(run.parent, place, turn)
    if not parts:
        return
    from stepscope.runs.merge import take_in  # numpy: not before a script that may not need it

    for part, note in parts:
        if part == run or (only is not None and part != only) or (only is None and not _has_ended(part)):
            continue
        try:
            note.unlink()  # the rank that removes the note moves the files
        except OSError:
            continue
        take_in(run, part)


def _has_ended(part: Path) -> bool:
    from stepscope.runs.read.folder import open_run

    try:
        return open_run(part).status != "running"
    except NotFound:  # its own rank has moved it meanwhile; continue with the remaining parts
        return False


def _patience_s() -> float:
    try:
        return float(os.environ.get("STEPSCOPE_RANK_WAIT_S", ""))
    except ValueError:
        return ranks.WAIT_S
