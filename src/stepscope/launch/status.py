"""One line at the bottom of the terminal: step, loss, speed, waiting for data, findings. It makes way for the script.

It is wiped before anything the script prints and drawn again after, only where a line begins. While the script draws
a progress bar of its own (carriage returns, cursor movements) there is none. In pipes and files there never is one.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from stepscope import fence
from stepscope.common import clocks
from stepscope.events.streams import Written

EVERY_S = 0.25
AFTER_A_BAR_S = 3.0
_WIPE = "\r\x1b[K"
_MOVES = ("\r", "\x1b[A", "\x1b[1A", "\x1b[2K", "\x1b[K", "\x1b[F", "\x1b[?25l", "\b")


def raw_write(stream: Any, text: str) -> None:
    """Write to a stream past whoever records or watches what the script writes."""
    write = getattr(type(stream), "write", None)
    try:
        if write is None:
            stream.write(text)
        else:
            write(stream, text)
        stream.flush()
    except (OSError, ValueError):  # closed, or nobody reads any more
        return


class StatusLine:
    """Draws `text()` at most four times a second, when `tick` is called, between the script's own writes."""

    def __init__(self, text: Callable[[int], str], clock: Callable[[], float] = clocks.monotonic) -> None:
        self._text = text
        self._clock = clock
        self._lock = threading.RLock()
        self._stream = sys.stderr
        self._written: list[Written] = []
        self._shown = False
        self._line_begins = True
        self._bar_at: float | None = None
        self._drawn_at = -EVERY_S
        self._pid = os.getpid()

    @staticmethod
    def is_wanted() -> bool:
        """Only where a person looks: both streams would end in the same terminal."""
        stream = sys.stderr
        try:
            return stream is not None and stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        except (AttributeError, ValueError):
            return False

    def install(self) -> None:
        for stream in {id(s): s for s in (sys.stdout, sys.stderr) if s is not None}.values():
            if not stream.isatty():
                continue
            written = Written(stream, self._beside, self.wipe)
            written.install()
            self._written.append(written)

    def remove(self) -> None:
        self.wipe()
        while self._written:
            self._written.pop().remove()

    def _beside(self, write: Callable[..., Any]) -> Callable[..., Any]:
        def written(text: Any, *args: Any, **kwargs: Any) -> Any:
            self._make_way(text)
            return write(text, *args, **kwargs)

        return written

    @fence.fenced("the status line")
    def _make_way(self, text: Any) -> None:
        if os.getpid() != self._pid or not isinstance(text, str) or not text:
            return
        with self._lock:
            self._wipe()
            if any(move in text.removesuffix("\r\n") for move in _MOVES):
                self._bar_at = self._clock()
            self._line_begins = text.endswith("\n")

    @fence.fenced("the status line")
    def tick(self) -> None:
        """Draw it again if it is time, and if the cursor stands where a line begins."""
        now = self._clock()
        if now - self._drawn_at < EVERY_S or not self._written or os.getpid() != self._pid:
            return
        for written in self._written:
            written.settle()
        if any(written.is_aside for written in self._written):
            return
        if self._bar_at is not None and now - self._bar_at < AFTER_A_BAR_S:
            return
        with self._lock:
            if not self._line_begins and not self._shown:
                return
            self._drawn_at = now
            width = _width(self._stream)
            raw_write(self._stream, _WIPE + self._text(width - 1)[: width - 1])
            self._shown = True

    def wipe(self) -> None:
        """Take the line away, before something else is written."""
        with self._lock:
            self._wipe()

    def _wipe(self) -> None:
        if self._shown:
            raw_write(self._stream, _WIPE)
            self._shown = False


def _width(stream: Any) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError, AttributeError):
        return 80
