from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.score_direction import constant_labels, score_signs
from stepscope.evidence.modules import Module
from stepscope.evidence.origins import Origin
from stepscope.evidence.steps import Step
from stepscope.records.place import Place

_ENOUGH = 3
_STEPS = 40


@rule("loss.generator-label", severity="error", follows=("loss.sign",))
def generator_label(run: Evidence) -> Iterator[Proof]:
    """The generator is trained to be recognized: its loss rewards the same verdict as the discriminator's.

    Why it matters: a generator learns by making the discriminator take its samples for real. When both losses push the
    discriminator's score of the generated samples the same way, the generator learns to be told apart.

    What to do: in the generator's loss label its samples as real (or turn the sign of the critic's score).

    How it is found: two optimizers take turns. The steps of one train the module that scores the samples and lower (or
    raise) the score of generated ones; the steps of the other, which does not hold that module, move the same score
    the same way.

    Bad:
        d_loss = bce(D(real), ones) + bce(D(fake.detach()), zeros)
        g_loss = bce(D(fake), zeros)
    Good:
        d_loss = bce(D(real), ones) + bce(D(fake.detach()), zeros)
        g_loss = bce(D(fake), ones)
    """
    labels = constant_labels(run)
    seen = [one for step in list(run.steps.steps)[:_STEPS] for one in _verdicts(run, step, labels)]
    for judge in {id(one.judge): one.judge for one in seen}.values():
        own = [one for one in seen if one.judge is judge and one.holds_judge]
        others = [one for one in seen if one.judge is judge and not one.holds_judge and one.made]
        of_made = {one.sign for one in own if one.made}
        of_real = {one.sign for one in own if not one.made}
        if len(of_made) != 1 or len(of_real) != 1 or of_made == of_real or len(others) < _ENOUGH:
            continue
        if {one.sign for one in others} == of_made:
            yield Proof(
                where=others[0].place,
                message="the generator's loss pushes the score of its samples the way the discriminator's does: it "
                "learns to be recognized",
                label="this rewards the verdict 'generated'",
                evidence={"steps": len(others)},
                fix="label the samples as real in the generator's loss (or flip the sign of the score)",
                related=[(own[0].place, "the discriminator learns here")] if own[0].place is not None else (),
            )


@dataclass(frozen=True)
class _Verdict:
    """A loss that moves the score a module gives to samples."""

    judge: Module
    sign: int
    """1: the loss rises with the score."""
    made: bool
    """Another module made the samples."""
    holds_judge: bool
    place: Place | None


def _verdicts(run: Evidence, step: Step, labels: dict[Origin, float]) -> Iterator[_Verdict]:
    made = run.optimizers.made
    if step.optimizer >= len(made) or len(made) < 2:
        return
    held = {id(one) for one in made[step.optimizer].parameters}
    way = -1 if made[step.optimizer].maximizes else 1
    for backward in step.backwards:
        loss = backward.origin
        for score, sign in score_signs(loss, labels, until=_is_output) if loss is not None else ():
            visit = None if score.visit is None else score.visit.root
            if visit is None or not visit.inputs or not _is_output(score):
                continue
            mine = [id(one) for one in visit.module.parameters()]
            sample = visit.inputs[0]
            behind = {id(past.visit.root.module) for past in sample.ancestors(60) if past.visit is not None}
            place = next((one.place for one in _above(loss, score)), backward.place) if loss is not None else None
            is_held = any(one in held for one in mine)
            if mine and is_held != sample.requires_grad:  # the other side's backward counts for neither
                yield _Verdict(visit.module, way * sign, bool(behind - {id(visit.module)}), is_held, place)


def _is_output(origin: Origin) -> bool:
    """The result of a root module with parameters."""
    root = None if origin.visit is None else origin.visit.root
    return (
        root is not None and any(one is origin for one in root.outputs) and any(True for _ in root.module.parameters())
    )


def _above(loss: Origin, score: Origin) -> Iterator[Origin]:
    """What reads the score on its way to the loss, the nearest first."""
    way = [one for one in loss.ancestors(60) if one.visit is None or not _is_output(one)]
    for one in reversed(way):
        if any(part is score for part in one.inputs):
            yield one
