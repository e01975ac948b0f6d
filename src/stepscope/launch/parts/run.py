"""The run folder of the script: opened when it begins, or once it trains or fails; ended with the process."""

from __future__ import annotations

import traceback

from stepscope.events.patches import is_ours
from stepscope.launch.loop import Loop
from stepscope.launch.part import Ended, Part
from stepscope.launch.tracking import Tracking
from stepscope.track.ending import Ending, ending_of

_PARSERS = frozenset(
    ["argparse", "click", "typer", "fire", "absl", "tyro", "jsonargparse", "simple_parsing", "hydra", "docopt"]
)


def ended_by_parser(error: BaseException | None) -> bool:
    """Whether a script ended before it began: `--help`, a wrong argument, a syntax error in the script itself."""
    if isinstance(error, SyntaxError):
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        return not any(frame.f_globals.get("__name__") == "__main__" for frame in frames)
    if not isinstance(error, SystemExit):
        return False
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__) if not is_ours(frame)]
    return bool(frames) and str(frames[-1].f_globals.get("__name__", "")).partition(".")[0] in _PARSERS


class OpenedRun(Part):
    """A run from the beginning; `at_once` also for a script whose text says that it will open one."""

    def __init__(self, tracking: Tracking, *, at_once: bool = False) -> None:
        self._tracking = tracking
        self._at_once = at_once

    def begin(self) -> None:
        if self._at_once:
            self._tracking.ensure()
        else:
            self._tracking.open()

    def close(self, error: BaseException | None) -> None:
        """Hooks of the run usually have said how it ended; this makes sure."""
        if isinstance(error, SystemExit) and error.code in (None, 0):
            error = None
        self._tracking.close(Ending("finished", 0) if error is None else ending_of(error))


class RunAtTheEnd(Part):
    """A script that trained or crashed has a run, also where it opened none."""

    ending = "opening the run folder"

    def __init__(self, tracking: Tracking, loop: Loop) -> None:
        self._tracking = tracking
        self._loop = loop

    def end(self, ended: Ended) -> None:
        if ended_by_parser(ended.error) and not self._loop.steps:
            self._tracking.drop_empty()
            return
        if ended.crash is not None or self._loop.steps:
            self._tracking.ensure()
