"""Follows the latest calls of layers that care about which axis is time and which the batch."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from torch import nn

from stepscope.evidence.shapes_seen import ShapesSeen
from stepscope.record.observers.observer import Observer

if TYPE_CHECKING:
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.watcher import Watcher

_KINDS = (
    nn.RNNBase,
    nn.MultiheadAttention,
    nn.TransformerEncoderLayer,
    nn.TransformerDecoderLayer,
    nn.Transformer,
)
_KEPT = 8
_LAYERS = 500


class ShapeObserver(Observer, ShapesSeen):
    def __init__(self, watcher: Watcher) -> None:
        ShapesSeen.__init__(self)
        super().__init__(watcher)

    def module_done(self, visit: Visit, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        if isinstance(module, _KINDS):
            if visit.module not in self.visits:
                self._make_room()
            self.visits.setdefault(visit.module, deque(maxlen=_KEPT)).append(visit)

    def root_done(self, visit: Visit, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        self.module_done(visit, module, args, kwargs, result)

    def _make_room(self) -> None:
        """A script may make a new layer for every batch."""
        if len(self.visits) >= _LAYERS:
            del self.visits[next(iter(self.visits))]
