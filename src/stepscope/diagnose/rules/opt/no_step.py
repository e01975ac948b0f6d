from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.edits.loop import call_on
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_ENOUGH = 5


@rule("opt.no-step", severity="error", follows=("opt.rebound-param",))
def no_step(run: Evidence) -> Iterator[Proof]:
    """Gradients are computed, but nothing ever updates the parameters.

    Why it matters: the model stays exactly as it was initialized, however long it runs.

    What to do: call `optimizer.step()` after `backward()`.

    How it is found: at the end of the script `backward()` has run at least five times, an optimizer exists that has
    never stepped, and its parameters got gradients and have not changed in a single value.

    Bad:
        optimizer.zero_grad()
        loss.backward()
    Good:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
    backwards = [b for b in run.steps.backwards if b.accumulates]
    if len(backwards) < _ENOUGH or not (run.over or len(backwards) >= 20 * _ENOUGH):
        return
    for made in run.optimizers.made:
        if run.steps.count_of(made.number):
            continue
        trained = [p for p in made.parameters if p.alive and p.gradients >= 3]
        if not trained or any(p.changed is not False for p in trained):
            continue
        if any(other is not made and other.holds(trained[0]) for other in run.optimizers.made):
            continue
        zeroed = any(one.optimizer == made.number for one in run.optimizers.zeroings)
        yield Proof(
            where=backwards[-1].place,
            message=f"{len(backwards)} times backward, but the optimizer's step() was never called: nothing learns",
            label=f"{len(trained)} parameters get gradients here and never change",
            evidence={"backwards": len(backwards), "steps": 0, "zero_grad_called": zeroed},
            edit=None
            if run.trainer.steps_itself
            else call_on("step", backwards[-1].place, made=made.place, after=True),
            fix="return the optimizer from configure_optimizers"
            if run.trainer.steps_itself
            else "call optimizer.step() after this line",
            related=[(made.place, f"this {made.type} never steps")] if made.place is not None else [],
        )
