"""How a run ends without `finish`: exit, exception, Ctrl-C, `sys.exit(3)`, SIGTERM.

Handlers installed before still run, the exit code is unchanged, and `remove` restores everything. A process that
is killed outright writes no end; readers infer it from the heartbeat.
"""

from __future__ import annotations

import atexit
import builtins
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Literal, NamedTuple

from stepscope.events import Installed
from stepscope.events.signals import hear_signal, hear_stuck_interrupt
from stepscope.track.secrets import learn_from_crash, mask_text

SIGTERM_EXIT = 128 + int(signal.SIGTERM)
MAX_TRACEBACK = 200_000


_instead: Callable[[BaseException], bool] | None = None


@contextmanager
def shown_by(other: Callable[[BaseException], bool]) -> Iterator[None]:
    """Inside the block, `other` prints uncaught exceptions instead of Python; Python does if it returns False.

    The script's own hook is still called.
    """
    global _instead
    _instead = other
    try:
        yield
    finally:
        _instead = None


def _python_shows(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if _instead is None or not _instead(error):
        sys.__excepthook__(kind, error, trace)


class Ending(NamedTuple):
    """How a run ended, for its `End` event."""

    status: Literal["finished", "stopped", "preempted", "failed"]
    exit_code: int | None = None
    error: str | None = None
    traceback: str | None = None


def ending_of(error: BaseException | None) -> Ending:
    """The ending for an exception that left the training."""
    if error is None:
        return Ending("finished")
    if isinstance(error, KeyboardInterrupt):
        return Ending("stopped", 130)
    if isinstance(error, SystemExit):
        return ending_of_exit(error.code)
    learn_from_crash(error.__traceback__)
    lines = traceback.format_exception(type(error), error, error.__traceback__)
    summary = "".join(traceback.format_exception_only(type(error), error)).strip()
    return Ending("failed", 1, mask_text(summary[:10_000]), mask_text("".join(lines)[-MAX_TRACEBACK:]))


def ending_of_exit(code: Any) -> Ending:
    """The ending for `sys.exit(code)`."""
    if code is None or code == 0:
        return Ending("finished", 0)
    if not isinstance(code, int):  # Python prints anything else and exits with 1
        return Ending("failed", 1, mask_text(str(code)[:10_000]))
    if code == SIGTERM_EXIT:
        return Ending("preempted", code)
    return Ending("failed", code, f"exit code {code}")


class EndingHooks:
    """Hooks on the process's ways to end, for one run."""

    def __init__(
        self,
        finish: Callable[[Ending], None],
        preempt: Callable[[], None],
        interrupt: Callable[[], None],
        progress: Callable[[], Any],
    ) -> None:
        """`preempt` is called at SIGTERM, `interrupt` at a Ctrl-C that does not reach the script."""
        self._finish = finish
        self._preempt = preempt
        self._interrupt = interrupt
        self._progress = progress
        self._pid = os.getpid()
        self._exit: tuple[Ending, Any] | None = None
        self._installed = Installed()

    def install(self) -> None:
        atexit.register(self._at_exit)
        self._installed.add(lambda: atexit.unregister(self._at_exit))
        self._installed.wrap("sys:excepthook", self._hearing_exceptions)
        self._installed.wrap("sys:exit", self._hearing_exit)
        quitter = type(getattr(builtins, "exit", None))
        if quitter.__module__ == "_sitebuiltins":  # `exit(3)` and `quit()` do not call `sys.exit`; else another shell's
            self._installed.wrap("_sitebuiltins:Quitter.__call__", self._hearing_quit, quitter)
        for undo in (hear_signal(signal.SIGTERM, self._preempt), hear_stuck_interrupt(self._interrupt)):
            if undo is not None:
                self._installed.add(undo)

    def remove(self) -> None:
        """Restore the previous hooks; those that others have wrapped since stay in place and do nothing."""
        self._installed.remove()

    def _is_ours(self) -> bool:
        return os.getpid() == self._pid

    def _at_exit(self) -> None:
        if not self._is_ours():  # a forked child that exits normally
            self._finish(Ending("finished"))
            return
        if (
            self._exit is not None and self._exit[1] == self._progress()
        ):  # otherwise sys.exit was caught and training continued
            self._finish(self._exit[0])
        else:
            self._finish(Ending("finished", 0))

    def _hearing_exceptions(self, show: Any) -> Any:
        def excepthook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
            try:
                shown = show if show is not sys.__excepthook__ else _python_shows
                shown(kind, error, trace)  # first, so that what it prints is still recorded
            finally:
                if self._is_ours() and not hasattr(sys, "ps1"):  # at a prompt an exception ends nothing
                    self._finish(ending_of(error))

        return excepthook

    def _hearing_exit(self, leave: Any) -> Any:
        def exit(status: Any = None, /) -> Any:
            self._note_exit(status)
            leave(status)

        return exit

    def _hearing_quit(self, leave: Any) -> Any:
        def __call__(quitter: Any, code: Any = None) -> Any:
            self._note_exit(code)
            return leave(quitter, code)

        return __call__

    def _note_exit(self, status: Any) -> None:
        if threading.current_thread() is threading.main_thread():  # in another thread it ends only that thread
            self._exit = (ending_of_exit(status), self._progress())
