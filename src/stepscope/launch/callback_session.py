"""What `stepscope run` does around a script, begun from inside a training that runs already: for callbacks.

    inside = Inside()
    inside.begin()
    ...
    inside.conclude(None)

Under `stepscope run` all of it is there, and `begin` does nothing.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from stepscope import fence
from stepscope.launch.options import Options
from stepscope.launch.parts.hooks import Hooks
from stepscope.launch.parts.loop import FirstStep, SeenSettings
from stepscope.launch.parts.run import OpenedRun
from stepscope.launch.parts.trainers import FollowedTrainers
from stepscope.launch.parts.verdict import Judged
from stepscope.launch.parts.watch import Watch
from stepscope.launch.script import Script
from stepscope.launch.session import Session
from stepscope.launch.session_context import Around
from stepscope.launch.sessions import Pieces
from stepscope.record.observers.watcher import is_watched
from stepscope.records import Finding

_BEFORE = ("repro.no-seed",)
"""Asks for what scripts do at their top, before we are there."""


class Inside:
    """Findings, phases, speeds and the pulse of what runs between `begin` and `conclude`, in the run that is open.

    What had happened before `begin` (models built, loaders made) was not seen, and rules that need it keep silent.
    """

    def __init__(self, *, project: str | None = None, name: str | None = None, quiet: bool = False) -> None:
        options = Options(project=project, name=name, quiet=quiet, capsule=False, ignore=_BEFORE)
        self._around = Around(this_script(), options)
        pieces = Pieces(self._around)
        watch = pieces.watch()
        self._trainers = FollowedTrainers(self._around, pieces.boundaries, pieces.logbook, watch)
        self._session = self._arranged(pieces, watch)
        self.is_on = False

    def _arranged(self, pieces: Pieces, watch: Watch) -> Session:
        """Findings are shown as they come; the script continues, so there is no last word and no status line."""
        around = self._around
        parts = [
            Judged(pieces.case(watch)),
            pieces.processes,
            OpenedRun(around.tracking, at_once=True),
            Hooks(around, waits=False),
            FirstStep(around, pieces.settings),
            SeenSettings(around, pieces.settings, parsed=False),
            *pieces.training(watch),
            pieces.ends(),
        ]
        return Session(around, parts)

    @property
    def findings(self) -> list[Finding]:
        """What has been proven so far."""
        return list(self._around.reporter.findings)

    def begin(self) -> None:
        if is_watched() or self.is_on:
            return
        self.is_on = True
        self._session.begin()
        fence.call("preparing the launch", self._trainers.begin)  # the watch hears of a trainer that is already running

    def conclude(self, error: BaseException | None) -> None:
        if self.is_on:
            self._session.conclude(error)


def this_script() -> Script:
    """The script that runs in this process, or, in a notebook, the folder it runs in."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    path = os.path.abspath(file) if file else str(Path.cwd() / "notebook.py")
    return Script(path, tuple(sys.argv), os.path.dirname(path))
