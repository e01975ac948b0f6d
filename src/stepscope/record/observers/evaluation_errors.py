"""Looks at what a model's answers are compared with where nothing is trained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.evaluation_errors import EvaluationError, EvaluationErrors
from stepscope.evidence.origins import OUTPUT
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.value_sample import can_look

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher

_SMALLEST, _LARGEST = 8, 2**20
_KEPT, _LOOKS = 20, 4
_TRANSFORMS = frozenset((
    "exp", "expm1", "exp2", "pow", "square", "sinh", "mul", "mul_", "add", "add_", "div", "div_", "true_divide",
))  # fmt: skip


class EvaluationErrorObserver(Observer, EvaluationErrors):
    ops = frozenset({"sub", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"})

    def __init__(self, watcher: Watcher) -> None:
        EvaluationErrors.__init__(self)
        super().__init__(watcher)

    def op(self, call: Call) -> None:
        if call.grad or call.place is None or not call.is_users or call.visit is not None or len(call.inputs) != 2:
            return
        first, second = call.inputs
        mine = [bool(origin.tags & OUTPUT) for origin in call.origins]
        if not self.watcher.step or sum(mine) != 1 or first.shape != second.shape:
            return
        if not all(one.is_floating_point() and can_look(one) for one in call.inputs):
            return
        found = next((one for one in self.all if one.place is call.place), None)
        many = first.numel()
        if not _SMALLEST <= many <= _LARGEST or (found is not None and found.count >= _LOOKS):
            return
        if _is_transformed(call.origins[0 if mine[0] else 1]):
            return
        answers, targets = (first, second) if mine[0] else (second, first)
        with quietly():
            spans = [tuple(raw.tolist(raw.stack(raw.aminmax(raw.detach(one))))) for one in (answers, targets)]
            means = [float(raw.item(raw.detach(one).mean())) for one in (answers, targets)]
        self._note(found, call, spans, means)

    def _note(self, found: EvaluationError | None, call: Call, spans: list[Any], means: list[float]) -> None:
        assert call.place is not None
        if found is None:
            if len(self.all) >= _KEPT:
                return
            found = EvaluationError(call.place, call.name, spans[0], spans[1], means[0], means[1])
            self.all.append(found)
        found.answers, found.targets = spans
        found.answers_mean, found.targets_mean = means
        found.count += 1


def _is_transformed(answer: Origin) -> bool:
    """Whether the script computes something from the model's output first: `expm1(out)`, `out * std + mean`."""
    return any(
        past.op in _TRANSFORMS and past.visit is None
        for past in answer.ancestors(20, through=lambda one: one.visit is None and bool(one.tags & OUTPUT))
    )
