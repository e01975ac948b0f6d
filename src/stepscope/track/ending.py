"""How a run ends when nobody calls `finish`: exit, exception, Ctrl-C, `sys.exit(3)`, SIGTERM.

Whatever was installed before still runs, the exit code stays what it was, and everything is put back on `remove`.
A process that is killed outright says nothing; readers work that out from its heartbeat.
"""

from __future__ import annotations

import atexit
import builtins
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Literal, NamedTuple

from stepscope.track.secrets import mask_text

__all__ = ["Ending", "EndingHooks", "ending_of"]

SIGTERM_EXIT = 128 + int(signal.SIGTERM)
MAX_TRACEBACK = 200_000


class Ending(NamedTuple):
    """How a run ended, as an `End` event will say it."""

    status: Literal["finished", "stopped", "preempted", "failed"]
    exit_code: int | None = None
    error: str | None = None
    traceback: str | None = None


def ending_of(error: BaseException | None) -> Ending:
    """The ending that an exception which left the training means."""
    if error is None:
        return Ending("finished")
    if isinstance(error, KeyboardInterrupt):
        return Ending("stopped", 130)
    if isinstance(error, SystemExit):
        return ending_of_exit(error.code)
    lines = traceback.format_exception(type(error), error, error.__traceback__)
    summary = "".join(traceback.format_exception_only(type(error), error)).strip()
    return Ending("failed", 1, mask_text(summary[:10_000]), mask_text("".join(lines)[-MAX_TRACEBACK:]))


def ending_of_exit(code: Any) -> Ending:
    """The ending that `sys.exit(code)` means."""
    if code is None or code == 0:
        return Ending("finished", 0)
    if not isinstance(code, int):  # Python prints anything else and exits with 1
        return Ending("failed", 1, mask_text(str(code)[:10_000]))
    if code == SIGTERM_EXIT:
        return Ending("preempted", code)
    return Ending("failed", code, f"exit code {code}")


class EndingHooks:
    """Our hooks on the process's ways to end, for one run."""

    def __init__(
        self, finish: Callable[[Ending], None], preempt: Callable[[], None], progress: Callable[[], Any]
    ) -> None:
        self._finish = finish
        self._preempt = preempt
        self._progress = progress
        self._pid = os.getpid()
        self._exit: tuple[Ending, Any] | None = None
        self._old_excepthook: Any = None
        self._old_exit: Any = None
        self._old_sigterm: Any = None
        # Bound methods are made anew at each access; keep the ones installed, to know them again.
        self._our_excepthook = self._on_exception
        self._our_exit = self._on_sys_exit
        self._our_sigterm = self._on_sigterm
        self._quitter: Any = None
        self._old_quit: Any = None

    def install(self) -> None:
        atexit.register(self._at_exit)
        self._old_excepthook, sys.excepthook = sys.excepthook, self._our_excepthook
        self._old_exit, sys.exit = sys.exit, self._our_exit
        self._watch_quitter()
        if threading.current_thread() is threading.main_thread():
            handler = signal.getsignal(signal.SIGTERM)
            if handler is not None and handler is not signal.SIG_IGN:  # None: a handler that is not Python's
                self._old_sigterm = handler
                signal.signal(signal.SIGTERM, self._our_sigterm)

    def remove(self) -> None:
        """Put back what is still ours; what others have wrapped since then stays and finds us silent."""
        atexit.unregister(self._at_exit)
        if sys.excepthook is self._our_excepthook:
            sys.excepthook = self._old_excepthook
        else:
            _step_aside(sys.excepthook, self._our_excepthook, self._old_excepthook, "_old_excepthook")
        if sys.exit is self._our_exit:
            sys.exit = self._old_exit
        else:
            _step_aside(sys.exit, self._our_exit, self._old_exit, "_old_exit")
        if self._quitter is not None:
            self._quitter.__call__ = self._old_quit
            self._quitter = None
        self._restore_sigterm()

    def _watch_quitter(self) -> None:
        """`exit(3)` and `quit()`, which `site` gives to scripts, do not call `sys.exit`."""
        quitter = type(getattr(builtins, "exit", None))
        if quitter.__module__ != "_sitebuiltins" or getattr(quitter.__call__, "__module__", "") != "_sitebuiltins":
            return  # another shell's, or already watched
        old, note = quitter.__call__, self._note_exit

        def quit_script(itself: Any, code: Any = None) -> Any:
            note(code)
            return old(itself, code)

        self._quitter, self._old_quit = quitter, old
        self._quitter.__call__ = quit_script

    def _restore_sigterm(self) -> None:
        if self._old_sigterm is None or threading.current_thread() is not threading.main_thread():
            return
        now = signal.getsignal(signal.SIGTERM)
        if now is self._our_sigterm:
            signal.signal(signal.SIGTERM, self._old_sigterm)
        else:
            _step_aside(now, self._our_sigterm, self._old_sigterm, "_old_sigterm")
        self._old_sigterm = None

    def _is_ours(self) -> bool:
        return os.getpid() == self._pid

    def _at_exit(self) -> None:
        if not self._is_ours():  # a forked child that leaves by the front door
            self._finish(Ending("finished"))
            return
        if (
            self._exit is not None and self._exit[1] == self._progress()
        ):  # else sys.exit was caught and training went on
            self._finish(self._exit[0])
        else:
            self._finish(Ending("finished", 0))

    def _on_exception(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        try:
            self._old_excepthook(kind, error, trace)  # first, so that what it prints is still recorded
        finally:
            if self._is_ours() and not hasattr(sys, "ps1"):  # at a prompt an exception ends nothing
                self._finish(ending_of(error))

    def _on_sys_exit(self, status: Any = None, /) -> Any:
        self._note_exit(status)
        self._old_exit(status)

    def _note_exit(self, status: Any) -> None:
        if threading.current_thread() is threading.main_thread():  # in another thread it ends only that thread
            self._exit = (ending_of_exit(status), self._progress())

    def _on_sigterm(self, number: int, frame: FrameType | None) -> None:
        """Record the end on another thread, then send the signal again to whoever had it before us.

        The main thread may hold the writer's lock right now: waiting here would be for ever. So this returns at once.
        """
        self._restore_sigterm()
        if self._is_ours():
            threading.Thread(target=self._preempt_and_resend, name="stepscope-sigterm", daemon=True).start()
        else:
            os.kill(os.getpid(), number)

    def _preempt_and_resend(self) -> None:
        worker = threading.Thread(target=self._preempt, name="stepscope-preempted", daemon=True)
        worker.start()
        worker.join(timeout=5.0)  # a disk that hangs must not keep the process from ending
        os.kill(self._pid, signal.SIGTERM)


def _step_aside(now: Any, ours: Any, old: Any, name: str) -> None:
    """Take a hook out of a chain of our own: a run opened beside this one may have been put over it."""
    owner = getattr(now, "__self__", None)
    while isinstance(owner, EndingHooks):
        under = getattr(owner, name)
        if under is ours:
            setattr(owner, name, old)
            return
        owner = getattr(under, "__self__", None)
