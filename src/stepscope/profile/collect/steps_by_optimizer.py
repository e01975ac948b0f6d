"""Steps of a block that does not say where they end: an optimizer's step ends one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from stepscope import events

if TYPE_CHECKING:
    from torch.optim import Optimizer


class StepsByOptimizer:
    """Calls `stepped()` after every optimizer step of the thread that installed it.

    Where two optimizers take turns (a GAN), the first one's steps count: one turn, one step.
    """

    def __init__(self, stepped: Callable[[], None]) -> None:
        self._stepped = stepped
        self._subscription: events.Subscription | None = None
        self._first: int | None = None

    def install(self) -> None:
        self._subscription = events.subscribe(
            "marking a step", thread=threading.get_ident(), order=90, step_ends=self._after
        )

    def remove(self) -> None:
        if self._subscription is not None:
            self._subscription.remove()
            self._subscription = None

    def _after(self, optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._first = self._first or id(optimizer)
        if id(optimizer) == self._first:
            self._stepped()
