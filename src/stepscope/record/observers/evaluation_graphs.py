"""Follows totals and lists of an evaluation that keep the graph of every batch, because gradients were left on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from stepscope.evidence.evaluation_graphs import EvaluationGraph, EvaluationGraphs
from stepscope.record.observers.observer import Observer

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.evidence.steps import Backward
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

__all__ = ["EvaluationGraphObserver"]

_FEWEST = 4
_KEPT = 20
_ANCESTORS = 400


class _Chain:
    """What one line has put together since the last backward."""

    __slots__ = ("batches", "last", "seen")

    def __init__(self) -> None:
        self.batches = 0
        self.seen = 0
        """The number of the last call of a model that went into it."""
        self.last: Origin | None = None


class EvaluationGraphObserver(Observer, EvaluationGraphs):
    ops: ClassVar[frozenset[str]] = frozenset({"add", "add_", "stack", "cat"})

    def __init__(self, watcher: Watcher) -> None:
        EvaluationGraphs.__init__(self)
        super().__init__(watcher)
        self._evaluated = 0
        """Number of calls of models in eval mode, with gradients on, since the last backward."""
        self._chains: dict[Place, _Chain] = {}

    def root_done(self, visit: Visit, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        if next(module.parameters(), None) is None:
            return  # a loss module, always in training mode
        if visit.training:
            self._note()
        elif visit.grad:
            self._evaluated += 1

    def op(self, call: Call) -> None:
        if not self._evaluated or call.place is None or not call.outputs or not call.outputs[0].requires_grad:
            return
        if call.name in ("stack", "cat"):
            count = sum(one.requires_grad for one in call.inputs)
            self._lengthen(call, count if count <= self._evaluated else 0)
        elif any(one.place is call.place and one.requires_grad for one in call.origins):
            self._lengthen(call, 1)

    def _lengthen(self, call: Call, batches: int) -> None:
        assert call.place is not None
        chain = self._chains.setdefault(call.place, _Chain()) if len(self._chains) < _KEPT else _Chain()
        if chain.seen == self._evaluated or not batches:
            return  # several terms of one batch
        chain.seen, chain.batches = self._evaluated, chain.batches + batches
        chain.last = self.watcher.tensor_history.known(call.outputs[0])

    def backward(self, backward: Backward, roots: list[Any]) -> None:
        used = set() if backward.origin is None else {id(one) for one in backward.origin.ancestors(_ANCESTORS)}
        self._chains = {place: one for place, one in self._chains.items() if id(one.last) not in used}
        self._note()

    def settle(self) -> None:
        if self.watcher.over:  # rules are also asked between the batches of an evaluation and what joins their results
            self._note()

    def rest(self) -> None:
        self._note()

    def _note(self) -> None:
        """The evaluation is over, and no backward has used what it put together."""
        for place, chain in self._chains.items():
            if chain.batches < _FEWEST:
                continue
            known = next((one for one in self.all if one.place is place), None)
            if known is None and len(self.all) < _KEPT:
                known = EvaluationGraph(place)
                self.all.append(known)
            if known is not None:
                known.passes, known.longest = known.passes + 1, max(known.longest, chain.batches)
        self._chains, self._evaluated = {}, 0
