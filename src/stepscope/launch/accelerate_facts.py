"""Accelerate: what `accelerator.prepare` was given, and which optimizers step without it.

Nothing of torch is imported before the script does.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from stepscope.events import Installed, caller
from stepscope.launch.trainers.boundaries import Boundaries
from stepscope.launch.trainers.wrap_method import around

if TYPE_CHECKING:
    from stepscope.evidence.accelerated import Accelerated

_PLAIN = ("NO", "MULTI_GPU", "MULTI_CPU", "MULTI_XPU", "MULTI_NPU", "MULTI_MLU")
"""Kinds of distribution that leave a model's parameters what they are."""
_LOOKED_AT = 64
"""Parameters of an optimizer that are asked for, at each of its steps."""


class Preparing:
    """Compares what steps with what was prepared. A trainer that uses Accelerate by itself knows what it does."""

    def __init__(self, boundaries: Boundaries) -> None:
        self._boundaries = boundaries
        self._optimizers: weakref.WeakSet[Any] = weakref.WeakSet()
        self._parameters: dict[int, weakref.ref[Any]] = {}
        self._accelerator: weakref.ref[Any] | None = None

    def hook(self, installed: Installed) -> None:
        for name in ("prepare", "prepare_model", "prepare_optimizer"):
            around(installed, f"accelerate.accelerator:Accelerator.{name}", self._prepares)
        around(installed, "accelerate.accelerator:Accelerator.backward", self._goes_back)
        around(installed, "accelerate.accelerator:Accelerator.autocast", self._casts)
        self._boundaries.when_stepped(self._stepped)

    def _facts(self) -> Accelerated | None:
        trainer = self._boundaries.facts
        if trainer is None or self._boundaries.stage is not None:
            return None
        if trainer.accelerated is None:
            from stepscope.evidence.accelerated import Accelerated

            trainer.accelerated = Accelerated()
        return trainer.accelerated

    def _prepares(self, accelerator: Any, *given: Any, **named: Any) -> None:
        facts = self._facts()
        if facts is None:
            return
        from torch.nn import Module
        from torch.optim import Optimizer

        from stepscope.record.observers.own_frames import own_place

        facts.prepared_at = own_place(sys._getframe(1))
        for one in (*given, *named.values()):
            if isinstance(one, Optimizer):
                self._optimizers.add(_inner(one))
            elif isinstance(one, Module):
                self._parameters.update((id(part), weakref.ref(part)) for part in one.parameters())

    def _goes_back(self, accelerator: Any, *args: Any, **kwargs: Any) -> None:
        facts = self._facts()
        if facts is not None:
            self._accelerator = weakref.ref(accelerator)
            facts.processes, facts.precision = int(accelerator.num_processes), str(accelerator.mixed_precision)
            facts.batches = int(accelerator.gradient_accumulation_steps)

    def _casts(self, *args: Any, **kwargs: Any) -> None:
        from stepscope.record.observers.own_frames import is_own

        facts, frame = self._facts(), caller()
        if facts is not None and frame is not None and is_own(frame.f_code):  # not the one of `prepare_model`
            facts.autocast_by_hand = True

    def _stepped(self, optimizer: Any) -> None:
        accelerator = None if self._accelerator is None else self._accelerator()
        if accelerator is None or self._boundaries.stage is not None:
            return
        facts, inner = self._facts(), _inner(optimizer)
        if facts is None or getattr(accelerator.distributed_type, "value", "") not in _PLAIN:
            return
        known = any(map(self._is_prepared, islice(_parameters_of(inner), _LOOKED_AT)))
        if known == (inner in self._optimizers):  # both prepared, or neither has to do with it
            return
        from stepscope.record.observers.own_frames import own_place

        if not known:
            facts.bare_model_at = facts.bare_model_at or own_place(sys._getframe(1))
            return
        facts.steps += 1
        facts.steps_between += not accelerator.sync_gradients
        facts.steps_scaled += _is_scaled(accelerator, inner)
        facts.stepped_at = own_place(sys._getframe(1))

    def _is_prepared(self, parameter: Any) -> bool:
        held = self._parameters.get(id(parameter))
        return held is not None and held() is parameter


def _parameters_of(optimizer: Any) -> Iterator[Any]:
    for group in optimizer.param_groups:
        yield from group["params"]


def _inner(optimizer: Any) -> Any:
    """The optimizer that Accelerate's own one stands around."""
    return optimizer.optimizer if type(optimizer).__name__ == "AcceleratedOptimizer" else optimizer


def _is_scaled(accelerator: Any, optimizer: Any) -> bool:
    """Whether its gradients are those of a scaled loss; a script may unscale them by hand, with the scaler."""
    scaler = accelerator.scaler
    if scaler is None or not scaler.is_enabled():
        return False
    return id(optimizer) not in getattr(scaler, "_per_optimizer_states", {})
