"""`python -m stepscope.launch.rank_entry NOTES train.py ...`: one more rank of a script under `stepscope run`.

Lightning's `ddp` starts the script again for every rank but the first, by a command of its own. That command is led
through here, so that all ranks are watched. What such a rank finds goes to the first one by its notes; a crash it tells
itself, because the others are killed soon after.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING

from stepscope import fence
from stepscope.common import clocks
from stepscope.launch.exit_handling import without_our_frames
from stepscope.launch.launch import launch
from stepscope.launch.options import Options
from stepscope.launch.part import Ended, Part
from stepscope.launch.parts.hooks import Hooks
from stepscope.launch.rank_command import read_note
from stepscope.launch.script import Script, find_module, find_script
from stepscope.launch.session import Session
from stepscope.launch.session_context import Around
from stepscope.records import End
from stepscope.track import ranks, session as tracked
from stepscope.track.ending import ending_of
from stepscope.track.masked_writer import MaskedWriter

if TYPE_CHECKING:
    from stepscope.launch.child_processes import Note, Visitor


def _rank_session(script: Script, options: Options, note: Note) -> Session:
    """What stands around the script of such a rank: only the watch, and notes."""
    around = Around(script, options)
    return Session(around, [Hooks(around), _Visit(note)])


class _Visit(Part):
    """The watch of such a rank."""

    ending = "the last look"

    def __init__(self, note: Note) -> None:
        self._note = note
        self._visitor: Visitor | None = None
        self._failed_at: float | None = None

    def torch_came(self, torch: ModuleType) -> None:
        from stepscope.launch.child_processes import Visitor

        self._visitor = Visitor(self._note)
        self._visitor.watch()

    def end(self, ended: Ended) -> None:
        at = clocks.time()
        if self._visitor is not None:
            self._visitor.conclude(ended.error)
            if self._visitor.tells_of_crash:
                self._failed_at = at

    def close(self, error: BaseException | None) -> None:
        if error is not None and self._failed_at is not None:
            fence.fenced("telling how this rank ended")(_end_run)(error, self._failed_at)
        tracked.finish()


def _end_run(error: BaseException, at: float) -> None:
    """Write the end of the run: Lightning kills the first rank within seconds, and that one may never say it."""
    run = tracked.current()
    if run is None or run.path is None:
        return
    rank = run.rank or ranks.place().rank or int(os.environ.get("LOCAL_RANK", "0"))  # the last: before there is a group
    writer = MaskedWriter(run.path, run_id=run.id, rank=rank, attempt=run.attempt, heartbeat_s=0, fsync_s=0)
    writer.close(End(time=at, **ending_of(without_our_frames(error))._asdict()))


def main(words: list[str]) -> None:
    """Run the script of this command line to its end, as Python would."""
    folder, first, *rest = words
    script = find_module(rest[0], rest[1:]) if first == "-m" else find_script(first, rest)
    note = read_note(folder)
    options = Options(record=False, quiet=True, diagnose=False)
    if note is None:  # it is the script that matters
        launch(script, options)
    else:
        launch(script, options, lambda script, options: _rank_session(script, options, note))


if __name__ == "__main__":
    main(sys.argv[1:])
