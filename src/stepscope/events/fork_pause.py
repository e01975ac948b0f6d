"""Our threads pause while the process forks.

From Python 3.12 on `os.fork` warns where another thread runs. Ours stop before the fork and start after it, so the
script sees the warning only where plain Python gives it, and no child is forked in the middle of our work.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import weakref
from types import FrameType
from typing import Any, Protocol

from stepscope.fence import fenced

PAUSE_S = 0.2
"""A thread that has not stopped by then waits for a disk: the fork does not wait for it."""


class _Pausable(Protocol):
    def pause(self) -> None: ...

    def resume(self) -> None: ...


_pausable: list[weakref.ref[_Pausable]] = []
_paused: list[_Pausable] = []
_forking: tuple[FrameType, int] | None = None
"""The frame that called `os.fork`, and at which instruction; until our threads have started again."""


def pause_at_forks(owner: _Pausable) -> None:
    """Have its thread stopped before each fork (`pause`, at most `PAUSE_S`) and started again after (`resume`)."""
    _pausable[:] = [ref for ref in _pausable if ref() is not None]
    _pausable.append(weakref.ref(owner))


def _before() -> None:
    for owner in [ref() for ref in list(_pausable)]:
        if owner is not None:
            _paused.append(owner)
            fenced("pausing a thread")(owner.pause)()


def _in_parent() -> None:
    """Python counts the threads once all handlers have run, and warns then: ours start after that."""
    global _forking
    if _paused and threading.current_thread() is threading.main_thread():
        frame = sys._getframe(1)
        _forking = (frame, frame.f_lasti)
        if _call_soon():
            return
    _resume()


def _soon(_argument: object) -> int:
    """Called by the interpreter between two instructions: inside a handler that follows ours, it is too early."""
    if _forking is not None:
        frame, instruction = _forking
        is_inside = sys._getframe(1) is not frame and frame.f_lasti == instruction
        if is_inside and _call_soon():
            return 0
    _resume()
    return 0


def _resume() -> None:
    global _forking
    _forking = None
    while _paused:
        fenced("going on after a fork")(_paused.pop().resume)()


def _call_soon() -> bool:
    """Have the interpreter call `_soon` on the main thread before its next instructions; False where it cannot."""
    import ctypes

    return bool(ctypes.pythonapi.Py_AddPendingCall(_pending(), None) == 0)


@functools.cache
def _pending() -> Any:
    import ctypes

    return ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(_soon)


def _in_child() -> None:
    global _forking
    _forking = None
    _paused.clear()


if hasattr(os, "register_at_fork") and sys.version_info >= (3, 12):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
