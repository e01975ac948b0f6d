"""Operators: every ATen operator of this thread, below functionals, scripted code and backward, by a dispatch mode.

As `operations` one level up; it costs more, so only what needs that level follows here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import torch.utils._python_dispatch as python_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

from stepscope import fence
from stepscope.events import aside


class OperatorFollower(Protocol):
    """Who is called around operators. What it runs itself is not followed."""

    who: str

    @property
    def paused(self) -> int:
        """Above 0: operators are not the script's own business now."""

    def begin(self, function: Any, args: Any, kwargs: Any, frame: Any) -> Any:
        """It is about to run. What is given comes back in `end`; None: not followed."""

    def end(self, begun: Any, result: Any) -> None:
        """It has run."""

    def fail(self, begun: Any, error: BaseException) -> None:
        """It has raised."""


def follow_operators(follower: OperatorFollower) -> Callable[[], None]:
    """Have the operators of this thread followed; what is returned ends it, on the same thread."""
    mode = _Mode(follower)
    mode.__enter__()  # type: ignore[no-untyped-call]
    aside.own_dispatch_modes += 1
    return partial(_take_off, mode)


class _Mode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self, follower: OperatorFollower) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._follower = follower

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # The default wraps every call in a guard that imports the compiler: 1.5 s at the first op.
        return False

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        follower = self._follower
        if follower.paused or function.namespace == "profiler" or aside.reason() is not None:
            return function(*args, **kwargs)
        begun = fence.call(follower.who, follower.begin, function, args, kwargs, sys._getframe(1))
        if begun is None:
            return function(*args, **kwargs)
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            fence.call(follower.who, follower.fail, begun, error)
            raise
        fence.call(follower.who, follower.end, begun, result)
        return result


def _take_off(mode: Any) -> None:
    """Remove the mode from anywhere in the stack: one of the script's may be above it."""
    stack: list[Any] = python_dispatch.__dict__["_get_current_dispatch_mode_stack"]()
    if mode not in stack:
        return
    aside.own_dispatch_modes -= 1
    above = []
    while stack.pop() is not mode:
        above.append(python_dispatch.__dict__["_pop_mode"]())
    mode.__exit__(None, None, None)
    for other in reversed(above):
        python_dispatch.__dict__["_push_mode"](other)
