"""Evaluation results nobody logs: mean loss and accuracy of what runs without gradients between two trainings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.nn.modules.loss import _Loss

from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.origins import DATA
from stepscope.record.observers.module_records import live
from stepscope.record.observers.observer import Observer

if TYPE_CHECKING:
    from stepscope.evidence.steps import Backward
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher

__all__ = ["Evaluations"]

_LOSSES = frozenset((
    "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "kl_div", "poisson_nll_loss", "gaussian_nll_loss", "hinge_embedding_loss",
    "margin_ranking_loss", "triplet_margin_loss", "cosine_embedding_loss", "ctc_loss", "soft_margin_loss",
))  # fmt: skip
_MOST = 100_000
Told = Callable[[dict[str, float]], None]


class Evaluations(Observer):
    """Adds up losses seen without gradients; `told` gets their mean when training goes on or the script ends.

    Losses stay where they were computed, as one running sum, so that no device is waited for during an evaluation.
    """

    steady = True
    ops: ClassVar[frozenset[str]] = _LOSSES | {"eq", "__eq__"}

    def __init__(self, watcher: Watcher, told: Told) -> None:
        super().__init__(watcher)
        self._told = told
        self._sum: Any = None
        self._count = 0
        self._right: Any = None
        self._asked = 0
        self._evaluating = False
        """The last model ran without gradients; a training step that prints its accuracy is no evaluation."""
        self._closed = False
        self._prefix = "eval/"

    # What a trainer says: its own boundaries are taken for those of the evaluation.

    def begin(self, stage: str) -> None:
        """A stage of a trainer begins; only validation and test have results that mean anything."""
        self.finish()
        self._closed = stage not in ("validation", "test", "training")
        self._prefix = "test/" if stage == "test" else "eval/"

    def end(self, *, told: bool = False) -> None:
        """It is over; `told`: the trainer has logged results of its own, which need none of ours beside them."""
        if told:
            self._sum, self._count, self._right, self._asked = None, 0, None, 0
        self.finish()
        self._closed, self._prefix, self._evaluating = False, "eval/", False

    def root_done(self, visit: Visit, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        if not isinstance(module, _Loss):
            self._evaluating = not visit.grad
        elif self._evaluating and not visit.grad and not self._closed:
            self._add(result)

    def op(self, call: Call) -> None:
        if call.grad or not self._evaluating or self._closed:
            return
        if call.name in _LOSSES:
            if call.visit is None or not isinstance(live(call.visit.root.module), _Loss):  # else root_done has it
                self._add(call.result)
        else:
            self._compare(call)

    def _add(self, loss: Any) -> None:
        if not isinstance(loss, torch.Tensor) or loss.numel() != 1 or self._count >= _MOST:
            return
        with quietly():
            value = raw.float(raw.detach(loss)).reshape(())
            self._sum = raw.clone(value) if self._sum is None or self._sum.device != value.device else self._sum + value
        self._count += 1

    def _compare(self, call: Call) -> None:
        """Predictions (an argmax) against labels (from the data)."""
        if len(call.origins) != 2 or not isinstance(call.result, torch.Tensor) or call.result.dim() != 1:
            return
        found = [origin.comes_from("argmax", "max", "topk", most=6) is not None for origin in call.origins]
        labels = call.origins[0] if found[1] else call.origins[1]
        if found[0] == found[1] or not labels.tags & DATA:
            return
        right = call.result.sum()
        self._right = right if self._right is None or self._right.device != right.device else self._right + right
        self._asked += call.result.numel()

    def backward(self, backward: Backward, roots: list[Any]) -> None:
        self._evaluating = False
        if self._count or self._asked:
            self._tell()

    def finish(self) -> None:
        if self._count or self._asked:
            self._tell()

    def _tell(self) -> None:
        values = {}
        with quietly():
            if self._count:
                values[f"{self._prefix}loss"] = float(raw.item(self._sum)) / self._count
            if self._asked:
                values[f"{self._prefix}accuracy"] = float(raw.item(self._right)) / self._asked
        self._sum, self._count, self._right, self._asked = None, 0, None, 0
        self._told(values)
