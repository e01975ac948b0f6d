"""Weights that start all alike and never part: shared by the rules about initialisation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepscope.events.pristine import raw
from stepscope.events.quiet import quietly
from stepscope.record.watch.fetch import can_fetch

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.record.watch.starts import Start

__all__ = ["alike", "place_of_start", "stuck"]

_STEPS = 3


def _trained(run: Evidence, start: Start) -> Any:
    """The weight, if optimizers have stepped on it often enough to move it and it takes part in the loss."""
    weight = start.ref()
    if weight is None or not weight.requires_grad or weight.grad is None:
        return None
    holders = run.optimizers.holding(weight)
    if not any(len(run.steps.of_optimizer(made.number)) >= _STEPS for made in holders):
        return None
    rates = [step.lr for made in holders for step in run.steps.of_optimizer(made.number)]
    return weight if any(rates) and can_fetch(weight) else None


def stuck(run: Evidence) -> list[Start]:
    """Weights that started at zero, are zero still, and whose gradient is zero in every place."""
    found = []
    for start in run.starts.weights:
        weight = _trained(run, start) if start.constant == 0 else None
        if weight is None or run.models.was_loaded(start.owner() if start.owner is not None else None):
            continue
        with quietly():
            if (
                not bool(raw.item(raw.detach(weight).any()))
                and not bool(raw.item(weight.grad.any()))
                and not run.models.grads_seen(weight)
            ):
                found.append(start)
    return found


def alike(run: Evidence) -> list[Start]:
    """Weights that started with one value, have moved, and all of whose rows are the same still."""
    found = []
    for start in run.starts.weights:
        weight = _trained(run, start) if start.constant is not None else None
        if weight is None or weight.shape[0] < 2:
            continue
        with quietly():
            rows = raw.detach(weight).reshape(weight.shape[0], -1)
            moved = bool(raw.item((rows != start.constant).any()))
            if moved and raw.equal(rows, rows[:1].expand_as(rows)) and _gradient_is_alike(weight):
                found.append(start)
    return found


def _gradient_is_alike(weight: Any) -> bool:
    """The gradient does not tell its rows apart either: no step will."""
    rows = raw.detach(weight.grad).reshape(weight.shape[0], -1)
    return bool(raw.item(rows.any())) and bool(raw.allclose(rows, rows[:1].expand_as(rows), rtol=1e-4, atol=0))


def place_of_start(run: Evidence, start: Start) -> Any:
    """The line that filled it, or else that built its module."""
    if start.filling is not None and start.filling.place is not None:
        return start.filling.place
    owner = start.owner() if start.owner is not None else None
    return None if owner is None else run.models.made_at(owner)
