from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from stepscope.diagnose import edits
from stepscope.diagnose.edits.loop import call_on
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.optimizers import Made
from stepscope.evidence.steps import Backward, Step


@rule("opt.no-zero-grad", severity="error")
def no_zero_grad(run: Evidence) -> Iterator[Proof]:
    """Gradients accumulate because nothing clears them between optimizer steps.

    Why it matters: each update uses the sum of all gradients so far, so the step grows and points the wrong way.

    What to do: call `optimizer.zero_grad()` once per step, before `backward()`.

    How it is found: at `backward()`, in three steps in a row, the gradients of the previous step are still there: the
    same tensor, the same version, and not zero.

    Bad:
        loss.backward()
        optimizer.step()
    Good:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
    for made in run.optimizers.made:
        steps = [one for one in _in_a_row(run.steps.of_optimizer(made.number)) if one.stale or _is_finite(one)]
        stale = [step for step in steps if step.stale]
        # One or two can be a warm-up; a step that did clear proves that the script knows how to.
        if len(stale) < 3 or len(stale) < len(steps):
            continue
        first = stale[0].backwards[-1]
        if first.place is None:
            continue
        before = [step.stale_norm for step in stale if step.stale_norm is not None]
        own = [step.own_norm for step in stale if step.own_norm is not None]
        grows = " -> ".join(f"{norm:.2g}" for norm in before[:4])
        yield Proof(
            where=first.place,
            message="gradients of earlier steps are still there when backward runs",
            label=f"grad norm {grows} before backward, which itself adds about {max(own):.2g}" if own else "",
            evidence={"steps": len(stale), "grad_norm_before": before[:8], "own_grad_norm": own[:8]},
            edit=_cleared(run, made, first),
            fix=f"call optimizer.zero_grad() before line {first.place.site.line}",
        )


def _is_finite(step: Step) -> bool:
    """Whether its losses are finite: gradients that are NaN cannot be told from cleared ones."""
    return all(one.loss is None or math.isfinite(one.loss) for one in step.backwards)


def _in_a_row(steps: Sequence[Step]) -> list[Step]:
    """The steps whose step before was seen too: what was cleared in a gap, nobody knows."""
    pairs = list(pairwise(steps))
    usual = min((after.index - before.index for before, after in pairs), default=0)
    return [after for before, after in pairs if after.index - before.index == usual]


def _cleared(run: Evidence, made: Made, backward: Backward) -> edits.Plan:
    """Before the backward; where several belong to one step, after the step."""
    step = run.steps.of_optimizer(made.number)[0]
    several = len(step.backwards) > 1
    there = step.place if several else backward.place
    return call_on("zero_grad", there, used=step.place, made=made.place, after=several)
