"""Signals that we hear too, without the script seeing a difference.

Python runs one handler per signal, so ours stands in for the script's and calls it, at once and on the main thread,
so that signals keep their order. `signal.getsignal` and `signal.signal` answer as if ours were not there. While the
main thread is inside C++, a thread hears of the signal instead (`signal_thread.py`).
"""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from stepscope import fence
from stepscope.common import clocks
from stepscope.events.hub import on_fork
from stepscope.events.installed import Installed
from stepscope.events.signal_thread import SignalThread, act_by_default

HEARING_S = 1.0
"""How long the script's handler, or the end of the process, waits for those who listen."""
SLOW_S = 5.0
"""After this the process ends, also with a disk that hangs."""
MAIN_THREAD_S = 0.2
"""How long the main thread has to begin its handler before it counts as stuck in C++."""
STUCK_S = 5.0
"""After Ctrl-C a main thread that has stood still for so long is stuck in C++."""
_heard: dict[int, _Heard] = {}
_of_stuck: list[Callable[[], Any]] = []
_doors = Installed()
_set: Callable[..., Any] = signal.signal
_get: Callable[..., Any] = signal.getsignal


def hear_signal(number: int, listener: Callable[[], Any], *, passes_on: bool = True) -> Callable[[], None] | None:
    """Call `listener` on a thread of its own whenever the signal arrives; what is returned ends it.

    With `passes_on` what the script has set happens too, the default action included: the process ends as ever. Without
    it the signal is ours for as long as the script has no use for it, and `listener` is called in the handler: it may
    only set a mark. None where it cannot be heard: not on the main thread, or ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        return None
    if number not in _heard:
        theirs = _get(number)
        if theirs is None or theirs == signal.SIG_IGN or (not passes_on and theirs != signal.SIG_DFL):
            return None  # None: a handler that is not Python's
        _heard[number] = _Heard(number, theirs, passes_on)
        if len(_heard) == 1:
            _doors.wrap("signal:getsignal", _hiding)
            _doors.wrap("signal:signal", _taking)
    if passes_on:
        _thread.begin()
    _heard[number].listeners.append(listener)
    return functools.partial(_leave, _heard[number], listener)


def hear_stuck_interrupt(listener: Callable[[], Any]) -> Callable[[], None] | None:
    """Call `listener` on a thread if Ctrl-C comes while the main thread is stuck in C++, where it ends nothing.

    Python's own handler stays in place. What is returned ends it; None where it cannot be heard.
    """
    if threading.current_thread() is not threading.main_thread():
        return None
    _thread.begin()
    _of_stuck.append(listener)
    return functools.partial(_leave_stuck, listener)


def _leave_stuck(listener: Callable[[], Any]) -> None:
    if listener in _of_stuck:
        _of_stuck.remove(listener)
    _rest()


def _rest() -> None:
    if not _of_stuck and not any(one.passes_on for one in _heard.values()):
        _thread.end()


def _leave(heard: _Heard, listener: Callable[[], Any]) -> None:
    if listener in heard.listeners:
        heard.listeners.remove(listener)
    if not heard.listeners and _heard.get(heard.number) is heard:
        del _heard[heard.number]
        heard.give_back()
    _rest()
    if not _heard:
        _doors.remove()


def _hear_beside(number: int) -> None:
    """On the thread that hears of signals."""
    heard = _heard.get(number)
    if heard is not None and heard.passes_on and heard.is_there:
        heard.stand_in()
    if number == signal.SIGINT and _of_stuck and _get(number) is signal.default_int_handler:
        # On a thread of its own: SIGTERM may follow, and must be heard at once.
        threading.Thread(target=_tell_if_stuck, name="stepscope-signal", daemon=True).start()


def _tell_if_stuck() -> None:
    """Python's handler raises KeyboardInterrupt between two bytecodes: a main thread that gets there moves on."""
    since, place = clocks.monotonic(), _main_place()
    while clocks.monotonic() - since < STUCK_S:
        clocks.sleep(STUCK_S / 50)
        if _main_place() != place:
            return
    for listener in list(_of_stuck):
        fence.call("hearing Ctrl-C", listener)


def _main_place() -> tuple[int, int] | None:
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    return None if frame is None else (id(frame), frame.f_lasti)


_thread = SignalThread(_hear_beside)


class _Heard:
    """One signal, with what the script believes its handler to be."""

    def __init__(self, number: int, theirs: Any, passes_on: bool) -> None:
        self.number, self.theirs, self.passes_on = number, theirs, passes_on
        self.listeners: list[Callable[[], Any]] = []
        self.ours = self._arrived  # a bound method is a new object at each access
        self._handled_at = -SLOW_S
        self._turn = threading.Lock()
        _set(number, self.ours)

    @property
    def is_there(self) -> bool:
        return _get(self.number) is self.ours

    def give_back(self) -> None:
        if self.is_there and threading.current_thread() is threading.main_thread():
            _set(self.number, self.theirs)

    def _arrived(self, number: int, frame: FrameType | None) -> None:
        if not self.passes_on:
            self._tell()
            return
        with self._turn:
            self._handled_at = clocks.monotonic()
        # On a thread: the main thread may hold a lock that the listeners want, and is here until this returns.
        telling = threading.Thread(target=self._tell, name="stepscope-signal", daemon=True)
        telling.start()
        telling.join(HEARING_S)
        if callable(self.theirs):
            self.theirs(number, frame)
        elif telling.is_alive():
            _set(number, signal.SIG_DFL)
            threading.Thread(target=self._end_later, args=(telling,), name="stepscope-signal", daemon=True).start()
        else:
            die_of(number)

    def stand_in(self) -> None:
        """The signal has come: if the main thread cannot run its handler, do here what can be done without it.

        Listeners are called, then the default action is taken. A handler of the script waits, as it would.
        """
        came = clocks.monotonic()
        while clocks.monotonic() - came < MAIN_THREAD_S:
            if self._handled_since(came):
                return
            clocks.sleep(0.01)
        with self._turn:
            if self._handled_since(came):
                return
            telling = threading.Thread(target=self._tell, name="stepscope-signal", daemon=True)
            telling.start()
            telling.join(HEARING_S / 2)
            if self.theirs == signal.SIG_DFL:
                act_by_default(self.number)

    def _handled_since(self, came: float) -> bool:
        """Whether the main thread has begun; it may have done so before we heard of the signal."""
        return self._handled_at > came - HEARING_S

    def _tell(self) -> None:
        for listener in list(self.listeners):
            fence.call(f"hearing {signal.Signals(self.number).name}", listener)

    def _end_later(self, telling: threading.Thread) -> None:
        telling.join(SLOW_S)
        os.kill(os.getpid(), self.number)


def die_of(number: int) -> None:
    """End this process as the signal does by default. Only on the main thread."""
    _set(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _hiding(get: Any) -> Any:
    @functools.wraps(get)
    def getsignal(signalnum: Any) -> Any:
        found = get(signalnum)
        heard = _heard.get(signalnum)
        return heard.theirs if heard is not None and found is heard.ours else found

    return getsignal


def _taking(put: Any) -> Any:
    @functools.wraps(put)
    def signal_(signalnum: Any, handler: Any) -> Any:
        heard = _heard.get(signalnum)
        if heard is not None and heard.passes_on and (callable(handler) or handler == signal.SIG_DFL):
            found = put(signalnum, heard.ours)
        else:  # one that the script had no use for until now is the script's alone
            found = put(signalnum, handler)
        if heard is None:
            return found
        before = heard.theirs if found is heard.ours else found
        heard.theirs = handler if callable(handler) else signal.Handlers(handler)
        return before

    return signal_


def _leave_child_alone() -> None:
    """A forked child has the handlers of its parent's script, and none of Stepscope's."""
    for heard in list(_heard.values()):
        heard.give_back()
    _thread.forget()
    _heard.clear()
    _of_stuck.clear()
    _doors.remove()


on_fork(_leave_child_alone)
if hasattr(os, "register_at_fork"):  # a signal to a child that has just begun is not one to us
    os.register_at_fork(before=_thread.let_go, after_in_parent=_thread.take_again)
