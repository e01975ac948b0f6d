"""Time inside calls that move tensors from the host to a device: the host-to-device part of a step."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from threading import get_ident
from types import ModuleType
from typing import Any

from stepscope.common import clocks
from stepscope.events import Installed

_POINTS = ("torch:Tensor.to", "torch:Tensor.cuda")


class Moves:
    """Times `Tensor.to` and `Tensor.cuda`, and calls `moved(began, ended)` for those that changed the device.

    Without a device in use there is nothing to time and nothing is installed. Compiled code is traced by the methods'
    names and does not come by here; subclasses of Tensor pass untimed.
    """

    def __init__(self, moved: Callable[[float, float], None], clock: Callable[[], float] = clocks.perf_counter) -> None:
        self._moved = moved
        self._clock = clock
        self._installed = Installed(stays_in_parent=True)
        self._inside: set[int] = set()
        self._is_on = False

    def install(self, torch: ModuleType, *, always: bool = False) -> None:
        """Stand at the moves, if a device is in use by now; may be asked again. `always` is for tests without one."""
        if self._is_on or not (always or uses_accelerator(torch)):
            return
        self._is_on = True
        for point in _POINTS:
            self._installed.wrap(point, lambda move: self._timed(move, torch))

    def remove(self) -> None:
        self._is_on = False
        self._installed.remove()

    def _timed(self, move: Callable[..., Any], torch: ModuleType) -> Callable[..., Any]:
        plain, unseen = (torch.Tensor, torch.nn.Parameter), torch._C.DisableTorchFunction
        compiling, clock, moved, inside = torch.compiler.is_compiling, self._clock, self._moved, self._inside

        def is_on_host(tensor: Any) -> bool:
            with unseen():  # a mode of the script would see that it is asked
                return bool(tensor.is_cpu)

        @wraps(move)
        def timed(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            thread = get_ident()
            # Torch hands a function mode the method by its name: what it calls is this function once more.
            if type(tensor) not in plain or thread in inside or compiling() or not is_on_host(tensor):
                return move(tensor, *args, **kwargs)
            inside.add(thread)
            began = clock()
            try:
                result = move(tensor, *args, **kwargs)
            finally:
                inside.discard(thread)
            if result is not tensor and not is_on_host(result):
                moved(began, clock())
            return result

        return timed


def uses_accelerator(torch: ModuleType) -> bool:
    """Whether the script has woken a device up. Asking whether there is one would wake its driver, and processes that
    are forked after that cannot use it."""
    if torch.cuda.is_initialized():
        return True
    xpu = getattr(torch, "xpu", None)
    if xpu is not None and xpu.is_initialized():
        return True
    return sys.platform == "darwin" and bool(torch.backends.mps.is_available())
