"""Hand a script other batches than its loader would: those kept from before, or those of a loader set up otherwise."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import wraps
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from stepscope import events

Give = Callable[[Any, Any, Callable[[], Any]], Any]
_POINTS = (
    "torch.utils.data.dataloader:_SingleProcessDataLoaderIter._next_data",
    "torch.utils.data.dataloader:_MultiProcessingDataLoaderIter._next_data",
)


class Diversion:
    """Stands where loaders hand out batches. `give(iterator, loader, ask)` answers instead; `ask()` asks the loader."""

    def __init__(self, give: Give, begun: Mapping[Any, Any] | None = None) -> None:
        """`begun`: the loader of each iterator that is there already."""
        self._give = give
        self._installed = events.Installed(stays_in_parent=True)
        self._loader_of: WeakKeyDictionary[Any, Any] = WeakKeyDictionary(dict(begun or {}))
        self.own: WeakSet[Any] = WeakSet()
        """Iterators of our own: left alone."""

    def install(self, module: Any) -> None:
        """`module` is `torch.utils.data.dataloader`."""
        self._installed.add(events.subscribe("handing out other batches", pass_began=self._began).remove)
        for point in _POINTS:
            self._installed.wrap(point, self._instead)

    def _began(self, loader: Any, iterator: Any, frame: FrameType) -> None:
        self._loader_of[iterator] = loader

    def _instead(self, ask: Callable[[Any], Any]) -> Callable[[Any], Any]:
        @wraps(ask)
        def _next_data(iterator: Any) -> Any:
            loader = self._loader_of.get(iterator)
            if loader is None or iterator in self.own:
                return ask(iterator)
            return self._give(iterator, loader, lambda: ask(iterator))

        return _next_data

    def remove(self) -> None:
        self._installed.remove()


def fresh(batch: Any, depth: int = 4) -> Any:
    """The same tensors in new containers: a script may pop from a batch that it will be given again.

    >>> batch = {"x": [1, 2]}
    >>> again = fresh(batch)
    >>> again["x"].pop(), batch
    (2, {'x': [1, 2]})
    """
    if depth == 0 or hasattr(batch, "shape"):
        return batch
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(fresh(part, depth - 1) for part in batch))
    if type(batch) in (list, tuple):
        return type(batch)(fresh(part, depth - 1) for part in batch)
    if type(batch) is dict:
        return {key: fresh(part, depth - 1) for key, part in batch.items()}
    return copy.copy(batch)


def batch_bytes(batch: Any, depth: int = 4) -> int:
    """What the tensors and arrays of a batch take."""
    if hasattr(batch, "nbytes"):
        return int(batch.nbytes)
    if depth and isinstance(batch, Mapping):
        return sum(batch_bytes(part, depth - 1) for part in batch.values())
    if depth and isinstance(batch, list | tuple):
        return sum(batch_bytes(part, depth - 1) for part in batch)
    return 0
