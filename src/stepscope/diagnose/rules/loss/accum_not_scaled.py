from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.losses import LOSSES
from stepscope.evidence.origins import Origin
from stepscope.evidence.steps import Step


@rule("loss.accum-not-scaled", severity="info", follows=("opt.no-zero-grad", "opt.accum-zeroed", "opt.no-step"))
def accum_not_scaled(run: Evidence) -> Iterator[Proof]:
    """Gradients of several batches are added up before a step, but the losses are not divided by their number.

    Why it matters: the gradient is as many times larger as there are batches, so the learning rate is too. It may have
    been chosen for that; it surprises when the number of batches is changed.

    What to do: divide the loss by the number of batches per step before `backward()`.

    How it is found: each step follows the same number of backwards of one line, and the loss of each is a plain mean.

    Bad:
        loss.backward()                  # four times, then optimizer.step()
    Good:
        (loss / 4).backward()
    """
    for made in run.optimizers.made:
        steps = [step for step in run.steps.of_optimizer(made.number) if step.backwards]
        if len(steps) < 3 or not all(_is_plain(step) for step in steps[1:4]):
            continue
        several = len(steps[1].backwards)
        where = steps[1].backwards[0].place
        if several < 2 or any(len(step.backwards) != several for step in steps[1:4]):
            continue
        yield Proof(
            where=where,
            message=f"each step adds up the gradients of {several} backwards, and the loss is not divided by {several}",
            label=f"{several} times before each step",
            evidence={"backwards_per_step": several, "losses": [b.loss for b in steps[1].backwards[:8]]},
            edit=tensors.received_divided(where, several),
            fix=f"divide by the number of batches: (loss / {several}).backward()",
        )


def _is_plain(step: Step) -> bool:
    places = {backward.place for backward in step.backwards}
    return len(places) == 1 and all(_is_mean(backward.origin) for backward in step.backwards)


def _is_mean(origin: Origin | None) -> bool:
    return origin is not None and (origin.op in LOSSES or origin.op == "mean")
