from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.steps import Backward, Step


@rule(
    "opt.step-before-backward",
    severity="error",
    follows=(
        *("opt.accum-zeroed", "opt.cleared-before-step", "opt.wrong-params", "opt.missing-params"),
        *("opt.stale-params", "grad.frozen-by-mistake"),
    ),
)
def step_before_backward(run: Evidence) -> Iterator[Proof]:
    """The optimizer steps before this batch's gradients are computed.

    Why it matters: each step uses nothing, or the gradients of the batch before.

    What to do: the order is `zero_grad()`, `backward()`, `step()`.

    How it is found: step after step, the optimizer is called when no backward has run since its gradients were
    cleared, or before the backward of the same batch.

    Bad:
        optimizer.zero_grad()
        optimizer.step()
        loss.backward()
    Good:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
    for made in run.optimizers.made:
        steps = run.steps.of_optimizer(made.number)
        if len(steps) < 4 or run.steps.backward_count < 4:
            continue
        if not any(p.alive and p.gradients >= 3 for p in made.parameters):
            continue  # they never get any: another mistake
        empty = [step for step in steps if step.empty]
        lagging = [step for step in steps if step.lagging]
        if len(empty) >= 3 and len(empty) >= len(steps) - 1:
            label = f"none of its parameters has a gradient here, for {len(empty)} steps"
        elif len(lagging) >= 3 and len(lagging) >= len(steps) - 1:
            label = "the gradients here are those of the previous batch"
        else:
            continue
        backward = next((b for b in reversed(run.steps.backwards) if b.accumulates), None)
        if backward is None:
            continue
        yield Proof(
            where=steps[-1].place,
            message="the optimizer steps before backward has computed this batch's gradients",
            label=label,
            evidence={"steps": len(steps), "without_gradients": len(empty), "with_old_gradients": len(lagging)},
            edit=_moved(run, steps[-1], backward),
            fix="move this line after the call of backward()",
            related=[(backward.place, "backward runs here, after the step")],
        )


def _moved(run: Evidence, step: Step, backward: Backward) -> edits.Plan | None:
    if step.place is None or not step.place.is_beside(backward.place):
        return None
    return edits.move_after(step.place, backward.place)
