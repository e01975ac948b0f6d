"""Looks at contrastive losses: two views put together by `cat`, their similarities, and the row each one must find."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import torch

from stepscope.common.ops import ELEMENTWISE, MASKS, RESHAPES
from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.view_pairs import ViewPair, ViewPairs
from stepscope.record.observers.fetch import here
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.value_sample import can_look

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher

__all__ = ["ViewPairObserver"]

_KEPT, _LOOKS = 8, 6
_FEWEST, _LARGEST = 4, 8192
_SHARE = 0.9
_BETWEEN = RESHAPES | ELEMENTWISE | MASKS | {"normalize", "fill_diagonal_", "masked_fill"}


class ViewPairObserver(Observer, ViewPairs):
    ops: ClassVar[frozenset[str]] = frozenset({"cross_entropy"})

    def __init__(self, watcher: Watcher) -> None:
        ViewPairs.__init__(self)
        super().__init__(watcher)

    def op(self, call: Call) -> None:
        if len(call.inputs) < 2 or call.place is None or not call.inputs[0].requires_grad:
            return
        scores, target = call.inputs[:2]
        rows = target.shape[0] if target.dim() == 1 else 0
        if scores.dim() != 2 or scores.shape != (rows, rows) or rows % 2 or not 2 * _FEWEST <= rows <= _LARGEST:
            return
        found = next((one for one in self.all if one.place is call.place), None)
        if target.dtype is not torch.int64 or (found is not None and found.looks >= _LOOKS) or not can_look(target):
            return
        joined = _two_views(call.origins[0])
        if joined is None or 2 * joined.inputs[0].shape[0] != rows:
            return
        if found is None:
            if len(self.all) >= _KEPT:
                return
            found = ViewPair(call.place, call.origins[1], joined.place, rows // 2)
            self.all.append(found)
        found.looks += 1
        with quietly():
            wanted = here(raw.detach(target))
            same = (wanted < rows // 2) == (raw.arange(rows) < rows // 2)
            found.within += raw.item(raw.mean(raw.float(same))) >= _SHARE


def _two_views(scores: Origin) -> Origin | None:
    """The `cat` of two results of one shape whose similarities with each other these are."""
    product = _back(scores, frozenset({"matmul", "mm"}))
    if product is None or len(product.inputs) != 2:
        return None
    joined = [_back(one, frozenset({"cat", "concat", "concatenate"})) for one in product.inputs]
    first = joined[0]
    if first is None or first is not joined[1] or len(first.inputs) != 2 or len(first.shape) != 2:
        return None
    one, other = first.inputs
    is_pair = one is not other and one.shape == other.shape and one.shape[1:] == first.shape[1:]
    return first if is_pair and one.requires_grad and other.requires_grad else None


def _back(origin: Origin, wanted: frozenset[str]) -> Origin | None:
    for _ in range(12):
        if origin.op in wanted:
            return origin
        if origin.op not in _BETWEEN or not origin.inputs:
            return None
        origin = origin.inputs[0]
    return None
