from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.accelerated import Accelerated
from stepscope.records import Severity

_ENOUGH = 3
_WRAPPED = ("DistributedDataParallel", "FullyShardedDataParallel", "DataParallel")
"""Models that the user has made ready by hand."""


@rule("api.not-prepared", severity="error")
def not_prepared(run: Evidence) -> Iterator[Proof]:
    """Accelerate's `accelerator.prepare` was not given the optimizer, or not the model.

    Why it matters: an optimizer that was not prepared knows nothing of accumulated batches and of float16's scaled
    gradients; a model that was not prepared is trained by each process for itself, and stays in float32.

    What to do: give `prepare` the model, the optimizer, the loaders and the scheduler, and use what it returns.

    How it is found: `accelerator.backward` is used, and at least three steps were made by an optimizer that was not
    prepared, on parameters of a model that was: in the middle of an accumulation, or with scaled gradients. Or a
    prepared optimizer steps parameters of a model that was not, with several processes or a precision that the model
    does not get. Where nothing of that applies yet, it is only told as information.

    Bad:
        model, loader = accelerator.prepare(model, loader)
    Good:
        model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    """
    facts = run.trainer.accelerated
    if facts is None:
        return
    if facts.steps >= _ENOUGH:
        yield _optimizer(facts)
    if facts.bare_model_at is not None and not any(model.type in _WRAPPED for model in run.models.roots):
        yield _model(facts)


def _optimizer(facts: Accelerated) -> Proof:
    severity: Severity = "error"
    if facts.steps_scaled >= _ENOUGH:
        harm = "it steps with gradients that are still scaled for float16"
    elif facts.steps_between >= _ENOUGH:
        harm = f"{facts.steps_between} of {facts.steps} steps came before all {facts.batches} batches of a step were in"
    else:
        harm = "float16 and accumulated batches would go wrong"
        severity = "info"
    return Proof(
        where=facts.prepared_at or facts.stepped_at,
        message=f"the optimizer was not given to accelerator.prepare: {harm}",
        label="the optimizer is not among these",
        evidence={"steps": facts.steps, "between": facts.steps_between, "scaled": facts.steps_scaled},
        fix="pass the optimizer to prepare, and use the one it returns",
        related=[(facts.stepped_at, "it steps here")],
        severity=severity,
    )


def _model(facts: Accelerated) -> Proof:
    severity: Severity = "error"
    if facts.processes > 1:
        harm = f"each of the {facts.processes} processes trains its own model"
    elif facts.precision != "no" and not facts.autocast_by_hand:
        harm, severity = f'mixed_precision="{facts.precision}" has no effect on it', "warning"
    else:
        harm, severity = "with several processes, each would train its own model", "info"
    return Proof(
        where=facts.prepared_at,
        message=f"the model was not given to accelerator.prepare: {harm}",
        label="the model is not among these",
        evidence={"processes": facts.processes, "precision": facts.precision},
        fix="pass the model to prepare, and use the one it returns",
        related=[(facts.bare_model_at, "its parameters are stepped here")],
        severity=severity,
    )
