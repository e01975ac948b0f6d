"""The fence: the one place where a fault in Stepscope is caught inside somebody's training.

Every hook, thread and call of Stepscope that runs in the user's process goes through `fenced`. A fault is
recorded, said once on stderr, and the training continues.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

__all__ = ["Fault", "call", "fenced", "on_fault", "report", "reset"]

T = TypeVar("T")
_LOST_DEVICE = "device-side assert triggered"
"""After this every call to the device fails; the script's own error says so, and the next call of its own raises it."""


class Fault:
    """One kind of failure inside Stepscope: where, what, and how often."""

    def __init__(self, where: str, error: BaseException) -> None:
        self.where = where
        self.error = f"{type(error).__name__}: {error}"
        self.traceback = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        self.count = 1


_lock = threading.Lock()


def _new_lock() -> None:
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # a child forked while another thread reports would find the lock held without end
    os.register_at_fork(after_in_child=_new_lock)

_faults: dict[tuple[str, str], Fault] = {}
_listener: Callable[[Fault], None] | None = None


def on_fault(listener: Callable[[Fault], None] | None) -> None:
    """Pass each new kind of fault to `listener`, which writes it into the run folder too."""
    global _listener
    _listener = listener


def report(where: str, error: BaseException, *, training: bool = True) -> None:
    """Record a fault in Stepscope and say it once; never raises. `training`: it happened inside somebody's training."""
    key = (where, type(error).__name__)
    with _lock:
        known = _faults.get(key)
        if known is not None:
            known.count += 1
            return
        fault = _faults[key] = Fault(where, error)
    try:
        if _LOST_DEVICE not in fault.error:
            print(  # noqa: T201
                f"stepscope: {where} failed and was skipped{'; training continues' * training} ({fault.error})",
                file=sys.stderr,
            )
    except Exception:  # stderr may be closed; there is nobody left to tell
        pass
    listener = _listener
    if listener is not None:
        try:
            listener(fault)
        except Exception:  # the listener writes to the disk that may be what failed
            pass


def fenced(where: str, default: Any = None) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Keep a function's faults from its caller: they are reported, and `default` comes back.

    >>> @fenced("the example", default=0)
    ... def broken() -> int:
    ...     return 1 // 0
    """

    def wrap(function: Callable[..., T]) -> Callable[..., T]:
        @wraps(function)
        def inside(*args: Any, **kwargs: Any) -> T:
            try:
                return function(*args, **kwargs)
            except Exception as fault:
                report(where, fault)
                return default  # type: ignore[no-any-return]

        return inside

    return wrap


def call(where: str, function: Callable[..., T], *args: Any) -> T | None:
    """`fenced(where)(function)(*args)` for what is called at every step: nothing is wrapped first.

    >>> call("the example", max, 1, 2)
    2
    """
    try:
        return function(*args)
    except Exception as fault:
        report(where, fault)
        return None


def reset() -> None:
    """Forget all faults and the listener (between runs and tests)."""
    global _listener
    with _lock:
        _faults.clear()
    _listener = None
