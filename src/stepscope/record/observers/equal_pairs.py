"""Looks whether two results of a model that a script compares with each other are the same, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.equal_pairs import EqualPair, EqualPairs
from stepscope.record.observers.fetch import here
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.value_sample import can_look

if TYPE_CHECKING:
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

__all__ = ["EqualPairObserver"]

_LOOKS = 12
_LARGEST = 2**16
_KEPT = 40
_SHARE = 0.9


class EqualPairObserver(Observer, EqualPairs):
    ops: ClassVar[frozenset[str]] = frozenset({
        "sub", "pairwise_distance", "cosine_similarity", "triplet_margin_loss", "cosine_embedding_loss",
    })  # fmt: skip

    def __init__(self, watcher: Watcher) -> None:
        EqualPairs.__init__(self)
        super().__init__(watcher)
        self._pairs: dict[Place, EqualPair] = {}

    def op(self, call: Call) -> None:
        if call.place is None or len(call.inputs) < 2 or (call.name == "sub" and not call.is_users):
            return
        one, other = call.inputs[:2]
        if not one.requires_grad or not other.requires_grad or one.shape != other.shape or one.dim() != 2:
            return
        if call.origins[0] is call.origins[1] or one.shape[0] < 2 or one.numel() > _LARGEST:
            return
        pair = self._pairs.get(call.place)
        if pair is None:
            if len(self.all) >= _KEPT:
                return
            pair = self._pairs[call.place] = EqualPair(call.name, call.place, call.origins[0], call.origins[1])
            self.all.append(pair)
        if pair.looks < _LOOKS and can_look(one) and can_look(other):
            pair.looks += 1
            with quietly():
                pair.equal += raw.item(raw.mean(raw.float((here(one) == here(other)).all(1)))) >= _SHARE
