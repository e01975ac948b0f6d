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
from stepscope.launch.script import Script
from stepscope.launch.session import Session
from stepscope.record.watch.watcher import is_watched
from stepscope.records import Finding

__all__ = ["Inside"]

_BEFORE = ("repro.no-seed",)
"""Asks for what scripts do at their top, before we are there."""


class Inside(Session):
    """Findings, phases, speeds and the pulse of what runs between `begin` and `conclude`, in the run that is open.

    What had happened before `begin` (models built, loaders made) was not seen, and rules that need it keep silent.
    """

    def __init__(self, *, project: str | None = None, name: str | None = None, quiet: bool = False) -> None:
        options = Options(project=project, name=name, quiet=quiet, capsule=False, ignore=_BEFORE)
        super().__init__(this_script(), options)
        self.is_on = False

    @property
    def findings(self) -> list[Finding]:
        """What has been proven so far."""
        return list(self.reporter.findings)

    def begin(self) -> None:
        if is_watched() or self.is_on:
            return
        self.is_on = True
        self.tracking.ensure()
        self.loop.on_step.append(self._stepped)
        self.hyperparameters.follow(self.loop)
        self._torch_came(sys.modules["torch"])
        self._follow_trainers()

    def conclude(self, error: BaseException | None) -> None:
        if self.is_on:
            super().conclude(error)

    @fence.fenced("summing up")
    def _sum_up(self, crashed: bool) -> None:
        """Findings were shown as they came; the script goes on, so there is no last word."""


def this_script() -> Script:
    """The script that runs in this process, or, in a notebook, the folder it runs in."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    path = os.path.abspath(file) if file else str(Path.cwd() / "notebook.py")
    return Script(path, tuple(sys.argv), os.path.dirname(path))
