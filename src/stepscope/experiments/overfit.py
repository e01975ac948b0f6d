"""Can the model overfit one batch?"""

from __future__ import annotations

import math
from typing import Any

import torch

from stepscope.evidence.experiments import Outcome
from stepscope.experiments.copies import Copies
from stepscope.experiments.experiment import Trial, experiment
from stepscope.experiments.not_checked import NotChecked

STEPS = 40
RATES = (1e-2, 1e-3)
ENOUGH = 0.95
"""Fraction of the loss that must disappear."""


@experiment("overfit-one-batch")
def overfit_one_batch(trial: Trial) -> Outcome:
    """The script's own loss on its first batch, repeatedly, with Adam on a copy of the model."""
    tapes = trial.tapes
    if len(tapes) > 1:
        raise NotChecked("several losses are trained in turn")
    if len({step.optimizer for step in trial.watcher.steps.steps}) > 1:
        raise NotChecked("several optimizers take turns")
    results: list[list[float]] = []
    for rate in RATES:
        if results and (trial.is_late or _fell(results[0]) > 0.5):
            break
        results.append(_losses(trial, rate))
    best = max(results, key=_fell)
    steps, start, end = len(best) - 1, best[0], min(best)
    if steps < 5:
        raise NotChecked("a step takes too long to be repeated")
    facts = {"start": start, "end": end, "steps": steps}
    if _fell(best) < 0.01:
        return Outcome.suspicious(f"the loss stays at {start:.4g} after {steps} steps on the same batch", **facts)
    return Outcome.passed(f"loss {start:.3g} -> {end:.3g} in {steps} steps", **facts)


def _fell(losses: list[float]) -> float:
    """The relative decrease of the loss; for losses that may be negative, relative to 1."""
    start, end = losses[0], min(losses)
    return (start - end) / max(abs(start), 1e-3 if end >= 0 else 1.0)


def _losses(trial: Trial, rate: float) -> list[float]:
    copies = trial.copied()
    update: _Adam | None = None
    losses: list[float] = []
    while len(losses) <= STEPS and not (trial.is_late and losses):
        loss = _scalar(copies)
        losses.append(float(loss.detach()))
        if not math.isfinite(losses[-1]):
            if len(losses) == 1:
                raise NotChecked("the loss is not finite")
            return losses[:-1]
        if _fell(losses) > ENOUGH:
            return losses
        if update is None:
            update = _Adam(copies.parameters(), rate)
            if not update.parameters:
                raise NotChecked("the model has no trainable parameters")
        update.step(torch.autograd.grad(loss, update.parameters, allow_unused=True))
    return losses


def _scalar(copies: Copies) -> Any:
    loss = copies.replay()
    if loss.numel() != 1:
        raise NotChecked("backward is called on more than one number")
    return loss


class _Adam:
    """A manual Adam: an optimizer object would call the hooks that watch the script's own."""

    def __init__(self, parameters: list[Any], rate: float) -> None:
        self.parameters = parameters
        self._rate = rate
        self._moments = [(torch.zeros_like(p), torch.zeros_like(p)) for p in parameters]
        self._count = 0

    @torch.no_grad()
    def step(self, gradients: Any) -> None:
        self._count += 1
        for parameter, gradient, (mean, square) in zip(self.parameters, gradients, self._moments, strict=True):
            if gradient is None:
                continue
            gradient = gradient.to_dense() if gradient.layout is not torch.strided else gradient
            mean.lerp_(gradient, 0.1)
            square.lerp_(gradient * gradient, 0.001)
            corrected = mean / (1 - 0.9**self._count)
            spread = (square / (1 - 0.999**self._count)).sqrt().add_(1e-8)
            parameter.sub_(self._rate * corrected / spread)
