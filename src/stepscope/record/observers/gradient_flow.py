"""Follows which parameters the gradient does not reach, where its way was cut, and how it grows from layer to layer."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import torch

from stepscope.events.quiet import quietly
from stepscope.evidence.gradient_flow import GradientFlow, Severed
from stepscope.evidence.origins import HOST
from stepscope.record.observers.fetch import can_fetch, norms_of
from stepscope.record.observers.gradients import gradient_norms, have_gradients
from stepscope.record.observers.observer import Observer
from stepscope.record.statistics import is_transformed

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.evidence.steps import Backward
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher

_CUTS_AT = frozenset((1, 2, 3, 5, 8))
_NORMS_AT = frozenset((*range(12), 15, 20, 25, 30, 40, 50, 75, 100, 150, 200))
_ANCESTORS = 6000
_SYNCS = 200


class GradientFlowObserver(Observer, GradientFlow):
    ops = frozenset(("numpy", "tolist", "item"))

    def __init__(self, watcher: Watcher) -> None:
        GradientFlow.__init__(self)
        super().__init__(watcher)
        self._syncs: deque[tuple[Origin, Any, int]] = deque(maxlen=_SYNCS)

    def op(self, call: Call) -> None:
        if call.origins and call.origins[0].tags:
            self._syncs.append((call.origins[0], call.place, self.watcher.tensor_history.ops))

    def backward_done(self, backward: Backward) -> None:
        if not backward.accumulates:
            return
        if backward.index in _NORMS_AT:
            with quietly():
                self._measure()
        if backward.index in _CUTS_AT and backward.origin is not None:
            self._look_for_cuts(backward)

    def _measure(self) -> None:
        found = [p for p in self.watcher.models.all_parameters() if _has_plain_gradient(p)]
        weights, gradients = norms_of(found), gradient_norms(found)
        for parameter, weight, gradient in zip(found, weights, gradients, strict=True):
            known = self.norms.setdefault(self.watcher.module_records.parameter(parameter), [])
            if weight > 0:
                known.append(gradient / weight)

    def _look_for_cuts(self, backward: Backward) -> None:
        without: dict[int, Any] = {}
        held = [p for made in self.watcher.optimizers.made for p in made.alive()]
        for parameter in _without_gradient([p for p in held if p.requires_grad]):
            origin = self.watcher.tensor_history.known(parameter)
            if origin is not None:
                without[id(origin)] = parameter
        if not without or backward.origin is None:
            return
        for origin, way, start in self._ends(backward.origin, backward.step):
            for past in start.ancestors(_ANCESTORS):
                parameter = without.pop(id(past), None)
                if parameter is not None:
                    record = self.watcher.module_records.parameter(parameter)
                    self.cuts.append(Severed(record, origin, way, backward.index, backward.place))

    def _ends(self, loss: Origin, step: int) -> list[tuple[Origin, str, Origin]]:
        """The ops behind which no gradient can come, how, and where to look on from there."""
        found = []
        for past in loss.ancestors(_ANCESTORS):
            if past.requires_grad or not past.op:
                if not past.inputs and past.kind == "outside" and not past.requires_grad:
                    sync = self._sync_before(past, step)  # `from_numpy` is not seen: a tensor from nowhere
                    found += [(sync, "host", sync)] if sync is not None else []
                continue
            if any(source.requires_grad for source in past.inputs):
                found.append((past, _way(past), past))
            elif past.tags & HOST and not past.inputs and past.step == step:
                sync = self._sync_before(past, step)
                found += [(past, "host", sync)] if sync is not None else []
        return found

    def _sync_before(self, made: Origin, step: int) -> Any:
        """The tensor whose values were read in this step, before this one was made of them."""
        for origin, place, index in reversed(self._syncs):
            if origin.step != step or (made.index and index > made.index):
                continue
            same = place is not None and made.place is not None and place.is_beside(made.place)
            if same or (made.place is None and origin.shape == made.shape and origin.shape):
                return origin
        return None


def _has_plain_gradient(parameter: Any) -> bool:
    gradient = parameter.grad
    if type(gradient) is not torch.Tensor or gradient.layout is not torch.strided or is_transformed(gradient):
        return False
    return can_fetch(gradient) and can_fetch(parameter)


def _without_gradient(parameters: list[Any]) -> list[Any]:
    """Those that have none, or one of zeros."""
    some = [p for p in parameters if p.grad is not None]
    with quietly():
        reached = {id(p) for p, found in zip(some, have_gradients(some), strict=True) if found}
    return [p for p in parameters if id(p) not in reached]


def _way(origin: Origin) -> str:
    if origin.op in ("detach", "detach_", "data"):
        return "detach"
    if not origin.grad:
        return "no_grad"
    if origin.op in ("tensor", "as_tensor"):
        return "rebuilt"
    return "steps"
