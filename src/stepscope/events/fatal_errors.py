"""Has Python's fault handler write to a file when C++ code ends this rank (SIGABRT, SIGSEGV).

Gloo aborts the process when ranks send each other different amounts. Nothing of Python runs then, and the other ranks
get a SIGTERM; what the handler has written tells them where this rank was.
"""

from __future__ import annotations

import faulthandler
import functools
from pathlib import Path
from typing import Any, TextIO

from stepscope.events.hub import on_fork
from stepscope.events.installed import Installed

__all__ = ["FatalErrors"]


class FatalErrors:
    """From `begin` to `end`. A script that enables the fault handler itself has it for itself."""

    def __init__(self) -> None:
        self._file: TextIO | None = None
        self._is_set = self._is_theirs = False
        self._installed = Installed()

    def begin(self, path: Path) -> None:
        """Does nothing a second time, or where the fault handler is in use."""
        if self._is_set:
            return
        self._is_set = True
        if faulthandler.is_enabled():
            return
        path.parent.mkdir(exist_ok=True)
        self._file = path.open("w")
        faulthandler.enable(self._file)
        self._installed.wrap("faulthandler:enable", self._noticing)
        self._installed.add(on_fork(self._leave))  # a worker that dies is not this rank

    def end(self) -> None:
        """The file goes: nothing has happened."""
        self._installed.remove()
        if self._file is None:
            return
        self._leave()
        self._file.close()
        Path(self._file.name).unlink(missing_ok=True)
        self._file = None

    def _leave(self) -> None:
        if not self._is_theirs:
            faulthandler.disable()

    def _noticing(self, original: Any) -> Any:
        @functools.wraps(original)
        def enable(*args: Any, **kwargs: Any) -> Any:
            self._is_theirs = True
            return original(*args, **kwargs)

        return enable
