"""Measures how far each step of an optimizer moves the weights, and how their size changes over the run.

Looked at on a sample of the values: the first steps each, later ones now and then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.weight_updates import WeightUpdate, WeightUpdates
from stepscope.record.observers.fetch import can_fetch, is_far, norms_of, together
from stepscope.record.observers.observer import Observer
from stepscope.record.statistics import is_transformed

if TYPE_CHECKING:
    from stepscope.evidence.steps import Step
    from stepscope.record.observers.watcher import Watcher

_FIRST, _FIRST_FAR = 60, 45
_THEN_EVERY, _THEN_EVERY_FAR = 25, 100
_PARAMETERS = 32
_VALUES = 64
_KEPT = 2000
_SHORT = (torch.bfloat16, torch.float16)


class WeightUpdateObserver(Observer, WeightUpdates):
    def __init__(self, watcher: Watcher) -> None:
        WeightUpdates.__init__(self)
        super().__init__(watcher)
        self._counts: dict[int, int] = {}
        self._before: list[tuple[Any, Any, Any]] = []
        """A parameter, a sample of its values before the step, and of its gradient."""
        self._open: WeightUpdate | None = None

    def step_begins(self, step: Step, optimizer: Any) -> None:
        count = self._counts[step.optimizer] = self._counts.get(step.optimizer, 0) + 1
        self._open = None
        if (count > _FIRST and count % _THEN_EVERY) or len(self.all) >= _KEPT:
            return
        chosen = _chosen(optimizer)
        if not chosen or (_is_left_out(count) and any(is_far(p) for p, _ in chosen)):
            return
        movement = WeightUpdate(step.index, step.optimizer, step.lr)
        weight = gradient = decay = 0.0
        with quietly():
            weights, gradients = _samples([p for p, _ in chosen]), _samples([p.grad for p, _ in chosen])
            parameters = [parameter for parameter, _ in chosen]
            self._before = list(zip(parameters, weights, gradients, strict=True))
            for (_, rate), square, slope in zip(chosen, _squares(weights), _squares(gradients), strict=True):
                weight += square
                decay += square * rate * rate
                gradient += slope
        movement.weight, movement.gradient, movement.decay = map(math.sqrt, (weight, gradient, decay))
        self._open = movement

    def step_done(self, step: Step, optimizer: Any) -> None:
        movement, self._open = self._open, None
        before, self._before = self._before, []
        if movement is None or movement.step != step.index or not all(can_fetch(p) for p, *_ in before):
            return
        with quietly():
            now = _samples([parameter for parameter, *_ in before])
            moved = _squares(raw._foreach_sub(now, [values for _, values, _ in before])) if now else []
            movement.stuck = _stuck(now, before)
        movement.moved = math.sqrt(sum(moved))
        self.all.append(movement)


def _stuck(now: list[Any], before: list[tuple[Any, Any, Any]]) -> float | None:
    """Of the 16-bit values with a gradient, how many are still exactly what they were."""
    still = count = 0
    for after, (parameter, values, slope) in zip(now, before, strict=True):
        if parameter.dtype in _SHORT:
            pulled = slope != 0
            still += int(raw.item((pulled & (after == values)).sum()))
            count += int(raw.item(pulled.sum()))
    return still / count if count else None


def _is_left_out(count: int) -> bool:
    """Of the steps of weights on a device, which has to be waited for."""
    return count > _FIRST_FAR and count % _THEN_EVERY_FAR != 0


def _chosen(optimizer: Any) -> list[tuple[Any, float]]:
    """Some of its parameters that have a gradient, with their weight decay."""
    found = [
        (parameter, float(group.get("weight_decay") or 0.0))
        for group in optimizer.param_groups
        for parameter in group["params"]
        if parameter.grad is not None
    ]
    every = max(1, math.ceil(len(found) / _PARAMETERS))
    return [
        (parameter, rate) for parameter, rate in found[::every] if _is_plain(parameter) and _is_plain(parameter.grad)
    ]


def _is_plain(tensor: Any) -> bool:
    kind = type(tensor) in (torch.Tensor, torch.nn.Parameter) and not is_transformed(tensor)
    return kind and tensor.layout is torch.strided and tensor.is_floating_point() and can_fetch(tensor)


def _samples(tensors: list[Any]) -> list[Any]:
    """Copies of some values of each."""
    some = together(list(map(_sample, tensors)))
    if not some:
        return []
    return list(raw.split_with_sizes(raw.to(raw.cat(some), torch.float64), [one.numel() for one in some]))


def _sample(tensor: Any) -> Any:
    flat = raw.detach(tensor).reshape(-1)
    every = flat.numel() // _VALUES
    return flat[: _VALUES * every : every] if every > 1 else flat[:_VALUES]


def _squares(values: Sequence[Any]) -> list[float]:
    return [norm * norm if math.isfinite(norm) else 0.0 for norm in norms_of(list(values))]
