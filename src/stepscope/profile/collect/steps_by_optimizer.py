"""Steps of a block that does not say where they end: an optimizer's step ends one."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from stepscope import fence
from stepscope.events import Installed

__all__ = ["StepsByOptimizer"]


class StepsByOptimizer:
    """Calls `stepped()` after every optimizer step of the thread that installed it.

    Where two optimizers take turns (a GAN), the first one's steps count: one turn, one step.
    """

    def __init__(self, stepped: Callable[[], None]) -> None:
        self._stepped = fence.fenced("marking a step")(stepped)
        self._installed = Installed()
        self._first: int | None = None
        self._thread = threading.get_ident()
        self._pid = os.getpid()

    def install(self) -> None:
        from torch.optim.optimizer import register_optimizer_step_post_hook

        self._installed.add(register_optimizer_step_post_hook(self._after).remove)

    def remove(self) -> None:
        self._installed.remove()

    def _after(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if os.getpid() != self._pid or threading.get_ident() != self._thread:
            return
        self._first = self._first or id(optimizer)
        if id(optimizer) == self._first:
            self._stepped()
