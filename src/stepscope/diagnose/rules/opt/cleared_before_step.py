from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.steps import Step

_ENOUGH = 3


@rule("opt.cleared-before-step", severity="error", follows=("opt.accum-zeroed",))
def cleared_before_step(run: Evidence) -> Iterator[Proof]:
    """Gradients are cleared after backward and before the optimizer uses them.

    Why it matters: every step has no gradients to work with. The weights never change, and nothing reports it.

    What to do: the order is `zero_grad()`, `backward()`, `step()`. Callbacks and hooks may clear gradients, too.

    How it is found: step after step, the gradients of all backwards since the step before were cleared, no gradient was
    left, and the model was not called in between: that is the order of the calls, not a step that comes too early.

    Bad:
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()
    Good:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
    for made in run.optimizers.made:
        steps = run.steps.of_optimizer(made.number)
        lost = [step for step in steps if _is_lost(step)]
        if len(lost) < _ENOUGH or len(lost) < len(steps) - 1:
            continue
        zeroing = next((z for z in reversed(run.optimizers.zeroings) if z.optimizer in (made.number, None)), None)
        backward, step = lost[-1].backwards[-1], lost[-1]
        if zeroing is None or zeroing.place is None:
            continue
        yield Proof(
            where=zeroing.place,
            message="gradients are cleared after backward and before the optimizer steps, so every step does nothing",
            label=f"throws away the gradients of {len(lost)} steps in a row",
            evidence={"steps": len(steps), "cleared_before_step": len(lost)},
            edit=edits.move_after(zeroing.place, step.place) if zeroing.place.is_beside(step.place) else None,
            fix="clear the gradients before backward, or after optimizer.step()",
            related=[(backward.place, "backward computes them here"), (step.place, "the step finds none here")],
        )


def _is_lost(step: Step) -> bool:
    return step.empty and not step.lagging and 0 < len(step.backwards) <= step.thrown_away
