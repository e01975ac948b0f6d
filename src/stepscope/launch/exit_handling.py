"""How a launched script ends: with Python's own messages, exit codes and order of events."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import traceback
from contextlib import nullcontext
from types import SimpleNamespace

from stepscope import fence
from stepscope.events.process import remember_uncaught
from stepscope.events.signals import die_of
from stepscope.launch.short_traceback import shortened
from stepscope.launch.status import StatusLine
from stepscope.record.tracebacks import without_our_frames as cleaned
from stepscope.track.ending import shown_by


def without_our_frames(error: BaseException) -> BaseException:
    """The error with its traceback as plain Python would show it, and so for all the errors behind it."""
    seen: set[int] = set()
    rest: list[BaseException | None] = [error]
    while rest:
        one = rest.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = cleaned(one.__traceback__)
        rest += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]
    return error


def say_uncaught(error: BaseException, short: bool = False) -> None:
    """Do what the interpreter does with an error nobody caught: remember it, and give it to `sys.excepthook`.

    `short`: a person at a terminal gets the frames of their own code only. The script's own hook, a pipe and a file get
    all of it.
    """
    trace = error.__traceback__
    remember_uncaught(error)
    _flush(sys.stdout)  # so that earlier output comes first
    hook = getattr(sys, "excepthook", sys.__excepthook__)
    try:
        with shown_by(_show_short) if short and StatusLine.is_wanted() else nullcontext():
            hook(type(error), error, trace)
    except SystemExit:
        raise
    except BaseException as fault:
        _flush(sys.stderr)
        sys.stderr.write("Error in sys.excepthook:\n")
        sys.__excepthook__(type(fault), without_our_frames(fault), fault.__traceback__)
        sys.stderr.write("\nOriginal exception was:\n")
        sys.__excepthook__(type(error), error, trace)


def _show_short(error: BaseException) -> bool:
    text = fence.call("shortening the traceback", shortened, error)
    if text:
        sys.stderr.write(text)
    return bool(text)


def _flush(stream: object) -> None:
    try:
        stream.flush()  # type: ignore[attr-defined]
    except (OSError, ValueError, AttributeError):  # closed, or none: Python does not mind either
        pass


def wait_for_threads() -> None:
    """Wait for the script's threads, as the interpreter does before it ends; daemons are not waited for.

    It is the interpreter's own way: the main thread counts as over from here, so threads that wait for it to end go
    on, and executors finish. The interpreter does it once, so at its own end there is nothing left to wait for.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    import concurrent.futures.thread  # noqa: F401  # registers for the end of the process on import: not possible after

    try:
        threading.__dict__["_shutdown"]()
    except BaseException as error:  # Ctrl-C while it waits, or a handler that fails: the interpreter continues, too
        _say_ignored(error)


def _say_ignored(error: BaseException) -> None:
    """As the interpreter does at its end. Its own hook takes only what it has made itself."""
    without_our_frames(error)
    if sys.unraisablehook is not sys.__unraisablehook__:
        facts = {"exc_type": type(error), "exc_value": error, "exc_traceback": error.__traceback__}
        sys.unraisablehook(SimpleNamespace(**facts, err_msg=None, object=threading))
        return
    _flush(sys.stdout)
    sys.stderr.write(f"Exception ignored in: {threading!r}\n")
    traceback.print_exception(error)


class LastWord:
    """Runs after every `atexit` handler of the script: registered before all of them.

    After Ctrl-C Python closes everything in good order and then dies of the signal, so that a shell which runs it in a
    loop stops too. With our frames below the script the interpreter does not see that interrupt; this does it instead.
    """

    def __init__(self) -> None:
        self._interrupted = False
        self._pid = os.getpid()
        atexit.register(self._at_exit)

    def interrupted(self) -> None:
        """The script was ended by Ctrl-C; leave with this call."""
        self._interrupted = True
        sys.exit(130)

    def forget(self) -> None:
        atexit.unregister(self._at_exit)

    def _at_exit(self) -> None:
        if not self._interrupted or os.getpid() != self._pid or os.name == "nt":
            return
        for stream in (sys.stdout, sys.stderr):
            _flush(stream)
        die_of(signal.SIGINT)
