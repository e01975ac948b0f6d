"""Weights that start all alike and never part: shared by the rules about initialization."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.evidence.weight_init import InitialWeight
    from stepscope.records.place import Place

_STEPS = 3


def _is_trained(run: Evidence, start: InitialWeight) -> bool:
    """Whether optimizers have stepped on it often enough to move it and it takes part in the loss."""
    weight = start.parameter
    if not weight.alive or not weight.requires_grad or not weight.has_grad or start.is_zero is None:
        return False
    holders = run.optimizers.holding(weight)
    seen = max((len(run.steps.of_optimizer(made.number)) for made in holders), default=0)
    if seen < _STEPS and not (seen and run.progress.step - start.step >= _STEPS):  # not every step was looked at
        return False
    return any(step.lr for made in holders for step in run.steps.of_optimizer(made.number))


def stuck(run: Evidence) -> list[InitialWeight]:
    """Weights that started at zero, are zero still, and whose gradient is zero in every place."""
    return [
        start
        for start in run.weight_init.weights
        if start.constant == 0
        and _is_trained(run, start)
        and (start.owner is None or not start.owner.loaded)
        and start.is_zero
        and start.gradient_is_zero
        and not start.parameter.gradients
    ]


def alike(run: Evidence) -> list[InitialWeight]:
    """Weights that started with one value, have moved, and all of whose rows are the same still."""
    return [
        start
        for start in run.weight_init.weights
        if start.constant is not None
        and _is_trained(run, start)
        and start.parameter.shape[0] >= 2
        and start.has_moved
        and start.rows_are_alike
        and start.gradient_is_alike
    ]


def place_of_start(start: InitialWeight) -> Place | None:
    """The line that filled it, or else that built its module."""
    if start.filling is not None and start.filling.place is not None:
        return start.filling.place
    return None if start.owner is None else start.owner.made
