from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_ENOUGH = 5


@rule("opt.no-backward", severity="error")
def no_backward(run: Evidence) -> Iterator[Proof]:
    """The optimizer steps, but backward never ran: there is no gradient to step with.

    Why it matters: a step without gradients changes nothing, and nothing reports it. With Lightning this is what a
    `training_step` without a `return` does: batches are skipped, one after the other.

    What to do: call `loss.backward()` before `optimizer.step()`; return the loss from `training_step`.

    How it is found: at the end of the script the optimizer has stepped at least five times, none of its parameters had
    a gradient at any of them, and backward has not run once.

    Bad:
        loss = F.mse_loss(model(x), y)
        optimizer.step()
    Good:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    """
    if run.steps.backward_count or not run.over:
        return
    for made in run.optimizers.made:
        steps = run.steps.of_optimizer(made.number)
        if len(steps) < _ENOUGH or not all(step.empty for step in steps):
            continue
        of_trainer = run.trainer.works is not None
        yield Proof(
            where=run.trainer.works if of_trainer else steps[-1].place,
            message=f"{len(steps)} steps of {made.type}, but backward never ran: nothing learns",
            label="no loss is returned here" if of_trainer else "no parameter has a gradient here",
            evidence={"steps": len(steps), "backwards": 0},
            edit=None if of_trainer else _backward(run, steps[-1].place),
            fix="return the loss" if of_trainer else "call loss.backward() before this line",
        )


def _backward(run: Evidence, step: Any) -> edits.Plan | None:
    """Before the step, of the name that the loss has there."""
    losses = [call for call in run.losses.calls if call.place is not None and call.place.is_beside(step)]
    if len({call.place for call in losses}) != 1:
        return None
    found = edits.find(run.source, losses[0].place)
    name = None if found is None else edits.name_of_result(*found)
    return None if name is None else edits.before(step, f"{name}.backward()")
