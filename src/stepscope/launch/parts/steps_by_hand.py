"""Steps without an optimizer: gradients were made, then the weights they belong to changed.

Seen from one backward to the next: `p -= lr * p.grad` under `no_grad` and `torch._foreach_*` count a version up,
`p.data.add_` is seen by a few of the values (on a CPU only: elsewhere comparing would mean waiting). Seen from one call
of a model to the next where `torch.func` makes the gradients (`functional_weights.py`).
"""

from __future__ import annotations

from types import FrameType, ModuleType
from typing import Any

from stepscope import events, fence
from stepscope.launch.auto_metrics import Logbook
from stepscope.launch.part import Ended, Part
from stepscope.launch.session_context import Around

_BEFORE_THE_PULSE = 10
_MOST_CALLS = 500
"""Calls of models without `torch.func` after which they are no longer looked at: a long inference must cost nothing."""


class StepsByHand(Part):
    """Until the first step of an optimizer, after which there is nothing to look for."""

    ending = "looking for steps without an optimizer"

    def __init__(self, around: Around, logbook: Logbook) -> None:
        self._around, self._logbook = around, logbook
        self._subscription: events.Subscription | None = None
        self._weights: list[tuple[Any, int, Any]] = []
        self._loss: Any = None
        self._functional: Any = None
        self._calls = 0

    def torch_came(self, torch: ModuleType) -> None:
        from stepscope.launch.functional_weights import FunctionalWeights

        self._functional = FunctionalWeights()
        self._subscription = events.subscribe(
            self.ending,
            order=_BEFORE_THE_PULSE,
            backward_begins=self._backward_begins,
            model_begins=self._model_begins,
        )

    def end(self, ended: Ended) -> None:
        if self._subscription is not None:
            fence.call(self.ending, self._look)
            fence.call(self.ending, self._look_at_functional)
            self._stop()

    def _stop(self) -> None:
        if self._subscription is not None:
            self._subscription.remove()
        self._subscription, self._weights, self._loss, self._functional = None, [], None, None

    def _is_needed(self) -> bool:
        loop = self._around.loop
        if loop.optimizers or loop.trainers_number is not None:
            self._stop()
        return loop.is_on and self._subscription is not None

    def _model_begins(self, call: Any) -> None:
        if not self._is_needed():
            return
        loop = self._around.loop
        updates = self._functional.updates_before(call.module)
        if updates is not None:
            self._step(updates)
            loop.gradients_are_made()
        self._calls += 1
        if self._calls == _MOST_CALLS and not self._functional.has_seen and self._subscription is not None:
            self._subscription.listen("backward_begins")

    def _look_at_functional(self) -> None:
        if self._around.loop.is_on:
            self._step(self._functional.updates_at_end())

    def _step(self, times: int) -> None:
        for _ in range(times):
            self._logbook.step_by_hand(self._around.loop.step_by_hand(), None)

    def _backward_begins(self, roots: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType) -> None:
        if not self._is_needed():
            return
        from stepscope.launch.changed_weights import reached_by

        self._look()
        self._loss, self._weights = reached_by(roots, args)

    def _look(self) -> None:
        """Have the weights of the last backward changed since?"""
        from stepscope.launch.changed_weights import has_changed

        weights, self._weights = self._weights, []
        if has_changed(weights):
            self._logbook.step_by_hand(self._around.loop.step_by_hand(), self._loss)
