"""Shapes seen: the latest calls of layers that care about which axis is time and which the batch."""

from __future__ import annotations

import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

from torch import nn

from stepscope.record.watch.witness import Witness

if TYPE_CHECKING:
    from stepscope.evidence.visits import Visit
    from stepscope.record.watch.watcher import Watcher

__all__ = ["ShapesSeen"]

_KINDS = (
    nn.RNNBase,
    nn.MultiheadAttention,
    nn.TransformerEncoderLayer,
    nn.TransformerDecoderLayer,
    nn.Transformer,
)
_KEPT = 8


class ShapesSeen(Witness):
    """`run.shapes_seen`"""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__(watcher)
        self._visits: weakref.WeakKeyDictionary[Any, deque[Visit]] = weakref.WeakKeyDictionary()

    def module_done(self, visit: Visit, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        if isinstance(module, _KINDS):
            self._visits.setdefault(module, deque(maxlen=_KEPT)).append(visit)

    def root_done(self, visit: Visit, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        self.module_done(visit, module, args, kwargs, result)

    def of(self, *kinds: type) -> list[tuple[Any, list[Visit]]]:
        """The layers of these kinds that ran, each with its latest calls."""
        return [(module, list(visits)) for module, visits in self._visits.items() if isinstance(module, kinds)]
