"""Which of a script's loaders it trains on: the one whose batches are followed by a backward pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

WARM_STEPS = 6


class TrainingLoader:
    """Ask `is_it(loader)` each time a loader is asked for a batch; True once it has trained for a few steps."""

    def __init__(self, backwards: Callable[[], int]) -> None:
        self._backwards = backwards
        self._trained: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        """How many batches of each loader were followed by a backward pass."""
        self._last: tuple[Any, int] | None = None

    def is_it(self, loader: Any) -> bool:
        if self._last is not None and self._backwards() > self._last[1]:
            last = self._last[0]
            self._trained[last] = self._trained.get(last, 0) + 1
        self._last = (loader, self._backwards())
        return self._trained.get(loader, 0) >= WARM_STEPS
