from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.edits.loop import call_on
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.optimizers import Made, Zeroing
from stepscope.evidence.steps import Step


@rule("opt.accum-zeroed", severity="error")
def accum_zeroed(run: Evidence) -> Iterator[Proof]:
    """Gradients are cleared in every micro-batch, so only the last one before each step counts.

    Why it matters: the accumulation costs its time and does nothing; the effective batch is a single micro-batch.

    What to do: call `zero_grad()` only when the optimizer has stepped.

    How it is found: in every round of several backwards before one step, the optimizer's gradients were cleared by the
    same line after each backward, and no other optimizer stepped in between.

    Bad:
        optimizer.zero_grad()
        loss.backward()
        if i % 4 == 3:
            optimizer.step()
    Good:
        loss.backward()
        if i % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()
    """
    for made in run.optimizers.made:
        steps = run.steps.of_optimizer(made.number)
        rounds = [step for step in steps if len(step.backwards) >= 2]
        if len(rounds) < 3 or len(rounds) < len(steps) - 2 or len({step.optimizer for step in run.steps.steps}) > 1:
            continue
        lost = [step for step in rounds if step.thrown_away >= len(step.backwards) - 1]
        if len(lost) < len(rounds):
            continue
        # Backwards from different places in one round are different losses (SAM, adversarial training).
        if any(len({b.place for b in step.backwards}) > 1 for step in rounds):
            continue
        zeroing = next((z for z in reversed(run.optimizers.zeroings) if z.optimizer in (made.number, None)), None)
        if zeroing is None:
            continue
        many = len(rounds[0].backwards)
        yield Proof(
            where=zeroing.place,
            message=f"gradients are cleared in every micro-batch: only one of {many} backwards before each step counts",
            label=f"throws away {rounds[0].thrown_away} of {many} gradients before every step",
            evidence={"backwards_per_step": many, "cleared_between": rounds[0].thrown_away, "rounds": len(rounds)},
            edit=edits.both(edits.remove(zeroing.place), _once(made, rounds[-1], zeroing)),
            fix="call zero_grad() right after optimizer.step(), not in every micro-batch",
        )


def _once(made: Made, step: Step, zeroing: Zeroing) -> edits.Plan:
    return call_on("zero_grad", step.place, used=zeroing.place, made=made.place, after=True)
