"""What the script prints becomes series; nothing that is printed is changed."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from stepscope import fence
from stepscope.common.code_owner import is_own_file
from stepscope.events.streams import Written
from stepscope.launch.part import Ended, Part
from stepscope.launch.printed.log_formats import message_of
from stepscope.launch.printed.series import Place, PrintedSeries
from stepscope.launch.session_context import Around
from stepscope.launch.trackers.name_registry import Hub, Origin
from stepscope.launch.trainers import Boundaries

_OURS = os.path.dirname(os.path.dirname(os.path.dirname(__file__))) + os.sep
_CONSOLE = Origin("console")
LONGEST = 4000
_MOST_HELD = 1000
_DEEPEST = 3
"""Calls of a library between a line of the script and what it prints: `accelerator.print(...)`, `tqdm.write(...)`."""


class PrintedNumbers(Part):
    """Reads both streams from the first line of the script to its end, unless somebody logs the same anyway."""

    ending = "reading what was printed"

    def __init__(self, around: Around, hub: Hub, boundaries: Boundaries) -> None:
        loop = around.loop
        self._around, self._hub, self._boundaries = around, hub, boundaries
        self._streams: list[Written] = []
        self._pid = os.getpid()
        self._held: list[list[tuple[Mapping[str, float], int]]] = [[], []]
        """Rows printed beside a trainer, of this stage and of the one before."""
        self._lock = threading.RLock()
        self._inside = threading.local()
        self.series = PrintedSeries(
            self._log,
            step=lambda: loop.number_now,
            has_begun=lambda: bool(loop.steps or loop.backwards),
        )

    def begin(self) -> None:
        if not self._around.keeps or self._around.rank != 0:
            return
        self._boundaries.on_leave.append(lambda stage: self._pass_on())
        self._boundaries.on_epoch.append(self._pass_on)
        for stream in {id(one): one for one in (sys.stdout, sys.stderr) if one is not None}.values():
            written = Written(stream, partial(self._heard, stream))
            try:
                written.install()
            except AttributeError:  # an object that lets nobody set its attributes
                continue
            self._streams.append(written)

    def end(self, ended: Ended) -> None:
        while self._streams:
            self._streams.pop().remove()
        for _ in self._held:
            self._pass_on()

    def _heard(self, stream: Any, write: Callable[..., Any]) -> Callable[..., Any]:
        lines = _Lines(self.series, stream, lambda place: place is not None or self._boundaries.trainer is None)

        def heard(text: Any, *args: Any, **kwargs: Any) -> Any:
            result = write(text, *args, **kwargs)
            if type(text) is str and text and not getattr(self._inside, "yes", False) and os.getpid() == self._pid:
                self._take(lines, text)
            return result

        return heard

    def _take(self, lines: _Lines, text: str) -> None:
        self._inside.yes = True
        try:
            with self._lock:
                lines.take(text)
        except Exception as fault:
            fence.report("reading what is printed", fault)
        finally:
            self._inside.yes = False

    def _log(self, values: Mapping[str, float], step: int) -> None:
        tracking = self._around.tracking
        if tracking.run is not None and not tracking.is_own:
            return
        if self._boundaries.trainer is None:
            self._hub.log(_CONSOLE, values, step)
        elif len(self._held[0]) < _MOST_HELD:
            self._held[0].append((values, step))

    def _pass_on(self) -> None:
        """What was printed beside a trainer, once its stage is over: all that the trainer has not logged itself."""
        rows = self._held.pop()
        self._held.insert(0, [])
        for values, step in rows:
            kept = {name: value for name, value in values.items() if not self._hub.is_told(_CONSOLE, name)}
            if set(kept) - {"epoch"}:
                fence.call(self.ending, self._hub.log, _CONSOLE, kept, step)


class _Lines:
    """Writes of one stream put together to lines, and to the forms of a line that is drawn over itself."""

    def __init__(self, series: PrintedSeries, stream: Any, is_heard: Callable[[Place], bool]) -> None:
        self._series, self._stream, self._is_heard = series, stream, is_heard
        self._open = ""

    def take(self, text: str) -> None:
        is_bar = "\r" in text or "\r" in self._open
        text = self._open + text
        *done, self._open = text.split("\n")
        place = _place() if done else None
        for line in done if self._is_heard(place) else ():
            shown = line.rstrip("\r").rpartition("\r")[2]
            self._series.line(message_of(shown, self._stream), place, is_redrawn="\r" in line or is_bar)
        if is_bar and self._open:
            shown = self._open.rstrip("\r").rpartition("\r")[2]
            if shown and self._is_heard(None):
                self._series.line(shown, is_redrawn=True)
            # What comes next is drawn over a line that ends so (`end="\r"`), and continues one that only began so.
            self._open = "\r" if self._open.endswith("\r") else "\r" + shown
        if len(self._open) > LONGEST:
            self._open = ""


def _place() -> Place:
    """The line of the script that prints; None where a library does (logging, a trainer)."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    for _ in range(_DEEPEST + 1):
        if frame is None:
            return None
        if is_own_file(frame.f_code.co_filename):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None
