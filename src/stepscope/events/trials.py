"""What a trial in a fork listens with: every operation of a call, and every line of the script that runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from torch.overrides import TorchFunctionMode


class EachOp(TorchFunctionMode):
    """Calls `before(args)` ahead of every operation and `after(function, what that gave, result, frame)` behind it."""

    def __init__(self, before: Callable[[Any], Any], after: Callable[[Any, Any, Any, FrameType], None]) -> None:
        super().__init__()
        self._before, self._after = before, after

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = self._before((args, kwargs or {}))
        result = func(*args, **(kwargs or {}))
        self._after(func, given, result, sys._getframe(1))
        return result


@contextmanager
def each_line(trace: Any) -> Iterator[None]:
    """Have Python call a trace function: only for a fork, where no debugger of the user's is disturbed."""
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(None)
