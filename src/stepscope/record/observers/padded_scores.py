"""Compares what an accuracy counts with what the loss of the same script ignores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from stepscope.common.ops import CASTS
from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.padded_scores import PaddedScore, PaddedScores
from stepscope.record.observers.fetch import here
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.value_sample import Allowance, can_look

if TYPE_CHECKING:
    from stepscope.evidence.losses import LossCall
    from stepscope.evidence.origins import Origin
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher

__all__ = ["PaddedScoreObserver"]

_FEWEST, _LARGEST = 8, 2**18
_PICKS = ("argmax", "max", "topk")
_LOSSES = ("cross_entropy", "nll_loss")
_KEPT, _HELD = 20, 16


class PaddedScoreObserver(Observer, PaddedScores):
    ops: ClassVar[frozenset[str]] = frozenset({"eq", "mean", "sum"})

    def __init__(self, watcher: Watcher) -> None:
        PaddedScores.__init__(self)
        super().__init__(watcher)
        self._compared: list[tuple[Origin, LossCall, float, float]] = []
        """Of the last comparisons: the share of ignored targets, and of those that count as right."""
        self._allowance = Allowance(0.05)

    def op(self, call: Call) -> None:
        if call.name == "eq":
            self._compare(call)
        elif self._compared and call.outputs and not call.outputs[0].dim() and call.place is not None:
            made = call.origins[0].back_through(CASTS)
            found = next((one for one in self._compared if one[0] is made), None)
            if found is not None:
                self._note(call, *found[1:])

    def _compare(self, call: Call) -> None:
        if len(call.inputs) != 2 or not call.outputs or not self._allowance.left():
            return
        first, second = call.inputs
        if first.shape != second.shape or not _FEWEST <= first.numel() <= _LARGEST:
            return
        if any(one.is_floating_point() or not can_look(one) for one in call.inputs):
            return
        picked = [one.comes_from(*_PICKS, most=40) is not None for one in call.origins]
        loss = self._loss() if sum(picked) == 1 else None
        made = self.watcher.tensor_history.known(call.outputs[0])
        if loss is None or made is None:
            return
        with self._allowance, quietly():
            target = here(second if picked[0] else first)
            is_ignored = target == loss.ignore_index
            share = _share(is_ignored)
            right = _share(is_ignored & here(call.outputs[0])) if share else 0.0
        if share:
            self._compared = [*self._compared[-_HELD:], (made, loss, share, right)]

    def _loss(self) -> LossCall | None:
        """The last loss that was told which target to ignore, and met it."""
        for call in list(self.watcher.losses.calls)[-_HELD:][::-1]:
            if call.name in _LOSSES and call.trains and call.counts and call.ignore_index in call.counts:
                return call
        return None

    def _note(self, call: Call, loss: LossCall, share: float, right: float) -> None:
        assert call.place is not None
        assert loss.ignore_index is not None
        found = next((one for one in self.all if one.place is call.place), None)
        if found is None:
            if len(self.all) >= _KEPT:
                return
            found = PaddedScore(call.place, call.name, loss.ignore_index, loss.place)
            self.all.append(found)
        found.looks += 1
        found.share, found.right = max(found.share, share), max(found.right, right)


def _share(mask: Any) -> float:
    return float(raw.item(raw.mean(raw.float(mask))))
