"""The run folder of the script: opened when it begins, or once it trains or fails; ended with the process."""

from __future__ import annotations

from stepscope.launch.loop import Loop
from stepscope.launch.part import Ended, Part
from stepscope.launch.tracking import Tracking
from stepscope.track.ending import Ending, ending_of

__all__ = ["OpenedRun", "RunAtTheEnd"]


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
        if ended.crash is not None or self._loop.steps:
            self._tracking.ensure()
