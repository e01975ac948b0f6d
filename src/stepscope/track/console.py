"""Records what the script prints. Progress bars, `isatty`, colors and return values are unaffected.

The stream stays the same object (`events.streams`), so that it looks unchanged to the script.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any, Literal

from stepscope import fence
from stepscope.common import clocks
from stepscope.events.streams import Written
from stepscope.records import Console
from stepscope.track.names import as_name
from stepscope.track.secrets import MASK, PEM_BEGIN, PEM_END, ends_in_secret, mask_text

Stream = Literal["stdout", "stderr"]
Emit = Callable[[Console], None]

REWRITE_EVERY_S = 2.0
"""How often an unfinished line (a progress bar) is recorded."""
GATHER_S = 0.02
MAX_LINE = 64 << 10
LONGEST_WORD = 4 << 10
BYTES_PER_S = 64 << 10
BURST_BYTES = 1 << 20


def last_form(line: str) -> str:
    """What a line shows after its carriage returns: the last text written.

    >>> last_form("10%\\r20%\\r30%\\r")
    '30%'
    """
    if "\r" not in line:
        return line
    parts = [part for part in line.split("\r") if part]
    return parts[-1] if parts else ""


def _end_of_words(line: str) -> int:
    """Where a line that is too long is cut: after a word, because half a secret is not recognized as one."""
    return line.rfind(" ", len(line) - LONGEST_WORD) + 1 or len(line)


class LineRecorder:
    """Turns one stream's writes into records: finished lines at once, an unfinished one now and then."""

    def __init__(self, stream: Stream, emit: Emit, step: Callable[[], int | None], clock: Callable[[], float]) -> None:
        self._stream = stream
        self._emit = emit
        self._step = step
        self._clock = clock
        self._line = ""
        self._ready: list[str] = []
        self._shown = False  # the unfinished line was already recorded: its next version replaces it
        self._replaces = False  # the first of the ready lines replaces the recorded one
        self._last_emit = 0.0
        self._in_pem = False
        self._budget = float(BURST_BYTES)
        self._budget_time = clock()
        self._cut = 0

    def write(self, text: str) -> None:
        line = self._line + text
        if "\n" in text:
            *finished, line = line.split("\n")
            for each in finished:
                self._finish_line(last_form(each))
        if "\r" in line:
            # Only the last version matters; a trailing return may yet be followed by its newline.
            line = last_form(line) + ("\r" if line.endswith("\r") else "")
        if len(line) > MAX_LINE:
            cut = _end_of_words(line)
            self._finish_line(line[:cut])
            line = line[cut:]
        self._line = line
        if self._ready and self._clock() - self._last_emit >= GATHER_S:
            self.flush_lines()

    def _finish_line(self, line: str) -> None:
        if not self._ready:
            self._replaces = self._shown
        self._shown = False
        self._ready.append(line + "\n")
        if len(self._ready) >= 1000:
            self.flush_lines()

    def flush_lines(self) -> None:
        """Record the finished lines."""
        if not self._ready:
            return
        text, self._ready = "".join(self._ready), []
        self._record(text, self._replaces)
        self._replaces = False

    def tick(self) -> None:
        """Record what is pending: finished lines, and the unfinished one if it is due."""
        self.flush_lines()
        if self._line.strip("\r") and self._clock() - self._last_emit >= REWRITE_EVERY_S:
            so_far = last_form(self._line)
            self._record(so_far[: ends_in_secret(so_far)], self._shown)
            self._shown = True

    def close(self) -> None:
        self.flush_lines()
        if self._line.strip("\r"):
            self._record(last_form(self._line), self._shown)
        self._line = ""
        self._note_cut()

    def _record(self, text: str, rewrite: bool) -> None:
        now = self._clock()
        self._budget = min(BURST_BYTES, self._budget + (now - self._budget_time) * BYTES_PER_S)
        self._budget_time = self._last_emit = now
        if len(text) > self._budget:
            self._cut += len(text)
            return
        self._budget -= len(text)
        self._note_cut()
        self._send(self._masked(as_name(text)), rewrite)

    def _note_cut(self) -> None:
        if self._cut:
            cut, self._cut = self._cut, 0
            self._send(f"[stepscope: {cut:,} characters printed too fast to be recorded were omitted here]\\n", False)

    def _send(self, text: str, rewrite: bool) -> None:
        self._emit(Console(time=clocks.time(), stream=self._stream, text=text, rewrite=rewrite, step=self._step()))

    def _masked(self, text: str) -> str:
        """Without secrets; a private key printed over several lines is hidden to its end."""
        if not self._in_pem and not PEM_BEGIN.search(text):
            return mask_text(text)
        shown: list[str] = []
        for line in text.splitlines(keepends=True):
            if PEM_BEGIN.search(line):
                self._in_pem = True
                shown.append(MASK + "\n")
            elif not self._in_pem:
                shown.append(mask_text(line))
            if PEM_END.search(line):
                self._in_pem = False
        return "".join(shown)


class _WrappedStream:
    """One intercepted stream; `remove` restores it."""

    def __init__(self, stream: Any, recorder: LineRecorder) -> None:
        self.stream = stream
        self.recorder: LineRecorder | None = recorder
        self._lock = threading.RLock()
        self._inside = threading.local()
        self._written = Written(stream, self._recorded, self._note_debugger)
        self._written.install()

    def _recorded(self, write: Callable[..., Any]) -> Callable[..., Any]:
        def recorded(text: Any, *args: Any, **kwargs: Any) -> Any:
            written = write(text, *args, **kwargs)
            recorder = self.recorder
            # Recording may itself print (an error message): that goes to the terminal only.
            if recorder is not None and isinstance(text, str) and not getattr(self._inside, "yes", False):
                self.use(lambda: recorder.write(text))
            return written

        return recorded

    def _note_debugger(self) -> None:
        recorder = self.recorder
        if recorder is not None:
            self.use(lambda: recorder.write("[stepscope: what is printed while a debugger runs is not recorded]\n"))

    def use(self, action: Callable[[], None]) -> None:
        self._inside.yes = True
        try:
            with self._lock:
                action()
        except Exception as fault:
            fence.report("recording the console", fault)
        finally:
            self._inside.yes = False

    def tick(self) -> None:
        recorder = self.recorder
        if recorder is not None:
            self.use(recorder.tick)
            self.use(self._written.settle)

    def remove(self) -> None:
        recorder = self.recorder
        if recorder is not None:
            self.use(recorder.close)
        self.recorder = None
        self._written.remove()

    def after_fork(self, recorder: LineRecorder) -> None:
        self._lock = threading.RLock()
        self._inside = threading.local()
        self.recorder = recorder


class ConsoleCapture:
    """Records `sys.stdout` and `sys.stderr` from `install` to `remove`."""

    def __init__(
        self, emit: Emit, step: Callable[[], int | None] = lambda: None, clock: Callable[[], float] = clocks.monotonic
    ) -> None:
        self._emit = emit
        self._step = step
        self._clock = clock
        self._wrapped: list[_WrappedStream] = []

    def install(self) -> None:
        names: tuple[Stream, Stream] = ("stdout", "stderr")
        for name in names:
            stream = getattr(sys, name)
            if stream is None or any(each.stream is stream for each in self._wrapped):
                continue
            try:
                self._wrapped.append(_WrappedStream(stream, self._recorder(name)))
            except AttributeError:  # an object whose attributes cannot be set: its output is not recorded
                continue

    def _recorder(self, name: Stream) -> LineRecorder:
        return LineRecorder(name, self._emit, self._step, self._clock)

    def tick(self) -> None:
        for each in self._wrapped:
            each.tick()

    def remove(self) -> None:
        for each in reversed(self._wrapped):
            each.remove()
        self._wrapped = []

    def after_fork(self) -> None:
        """In a child: forget the parent's unfinished line, and locks held by threads that do not exist here."""
        for each in self._wrapped:
            stream: Stream = "stderr" if each.stream is sys.stderr else "stdout"
            each.after_fork(self._recorder(stream))
