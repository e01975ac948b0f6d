"""Hears the warnings that are shown. What the script silences or catches is not shown, and not heard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepscope.evidence.python_warnings import PythonWarnings, Warned
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import is_own, is_own_file
from stepscope.records.step import Site

if TYPE_CHECKING:
    from types import FrameType

    from stepscope.events import Installed
    from stepscope.record.observers.watcher import Watcher

_KEPT = 100
_LONGEST = 400
_MACHINERY = ("warnings", "stepscope")


class PythonWarningObserver(Observer, PythonWarnings):
    def __init__(self, watcher: Watcher) -> None:
        PythonWarnings.__init__(self)
        super().__init__(watcher)

    def install(self, installed: Installed) -> None:
        installed.before("warnings:_showwarnmsg", "hearing warnings", self._shown)

    def _shown(self, frame: FrameType, message: Any, *rest: Any) -> None:
        if len(self.all) >= _KEPT or not self.watcher.listens():
            return
        text = str(message.message)[:_LONGEST]
        self.all.append(
            Warned(
                message.category.__name__, text, _own_site(message, frame), _origin(message, frame), self.watcher.step
            )
        )


def _own_site(message: Any, frame: FrameType | None) -> Site | None:
    if is_own_file(message.filename):
        return Site(file=message.filename, line=message.lineno)
    while frame is not None and not is_own(frame.f_code):
        frame = frame.f_back
    return None if frame is None else Site(file=frame.f_code.co_filename, line=frame.f_lineno)


def _origin(message: Any, frame: FrameType | None) -> str:
    """The package whose function warned. C code has no frame: then the line that called it is asked what it calls."""
    while frame is not None:
        name = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if name not in _MACHINERY:
            return "" if is_own(frame.f_code) else name
        frame = frame.f_back
    return ""
