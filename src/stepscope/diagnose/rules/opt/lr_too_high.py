from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from stepscope.diagnose.edits import Plan
from stepscope.diagnose.edits.literals import set_argument
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.optimizers import Made

_LARGE = 0.1
_THROWN = 0.33
_LONG = 60
"""Steps after which a loss should be below its first value."""


@rule(
    "opt.lr-too-high",
    severity="warning",
    follows=("opt.no-zero-grad", "opt.momentum", "grad.exploding", "init.*", "data.*", "num.div-zero-std", "loss.*"),
)
def lr_too_high(run: Evidence) -> Iterator[Proof]:
    """The learning rate is so high that the steps make the loss grow.

    Why it matters: each step jumps over the minimum, further than the one before; the weights end as NaN, or far away.

    What to do: divide the learning rate by ten until the loss falls, or clip the gradients.

    How it is found: steps repeatedly move the weights by more than a tenth of their size, and the loss grows with them
    to many times its first value and does not recover. Or a step of the first twenty moves them by more than a third,
    the loss jumps to twice its first value, and at the end of the run it is no lower than at its first step.

    Bad:
        optimizer = torch.optim.SGD(model.parameters(), lr=10.0)
    Good:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    """
    for made in run.optimizers.made:
        steps = run.steps.of_optimizer(made.number)
        if not 2 <= len(steps) <= 400 or len({step.optimizer for step in run.steps.steps}) > 1:
            continue
        losses = [step.backwards[0].loss for step in steps if step.backwards and step.backwards[0].loss is not None]
        updates = run.weight_updates.of_optimizer(made.number)
        ratios = [one.ratio for one in updates]
        if len(losses) < 3 or len(ratios) < 2 or not losses[0] > 0 or losses[1] <= 0:
            continue
        large = sum(ratio > _LARGE for ratio in ratios[:20])
        from_zero = updates[0].weight == 0  # weights that begin at zero are small beside any step
        if not _diverges(losses) and (from_zero or not _stays_up(losses, ratios)):
            continue
        if large < (3 if math.isfinite(losses[-1]) else 2):
            continue
        yield _proof(run, made, losses, ratios)
        return
    yield from _never_recovers(run)


def _never_recovers(run: Evidence) -> Iterator[Proof]:
    """The first steps threw the weights away, and the loss has never come below where it began."""
    stepped = [made for made in run.optimizers.made if run.steps.count_of(made.number)]
    if len(stepped) != 1 or not run.over:
        return
    [made], course = stepped, run.loss_course
    ratios = [one.ratio for one in run.weight_updates.of_optimizer(made.number)]
    first, late = course.first, course.late
    if first is None or late is None or first <= 0 or not ratios or course.count < _LONG:
        return
    if max(ratios[:20]) > _THROWN and course.highest > 2 * first and late > 0.97 * first:
        yield _proof(run, made, [first, course.highest, late], ratios)


def _diverges(losses: list[float]) -> bool:
    """Ever larger, by orders of magnitude, or no number at all after that."""
    finite = [loss for loss in losses if math.isfinite(loss)]
    if len(finite) < len(losses):
        last = finite[-3:]
        return len(last) >= 2 and last[-1] > 10 * losses[0]
    if len(losses) < 5:
        return False
    tail = losses[-4:]
    grows = all(later > earlier for earlier, later in itertools.pairwise(tail))
    return grows and losses[-1] > 100 * losses[0]


def _stays_up(losses: list[float], ratios: list[float]) -> bool:
    """Well above where it began, for many steps, while the weights are thrown about."""
    if len(losses) < 15 or not all(map(math.isfinite, losses)):
        return False
    first = sum(losses[:1])
    late = sorted(losses[-10:])
    early = sorted(ratios[:10])
    return late[2] > 1.5 * first and max(losses) > 3 * first and early[len(early) // 2] > _LARGE


def _proof(run: Evidence, made: Made, losses: list[float], ratios: list[float]) -> Proof:
    rate = next((step.lr for step in run.steps.of_optimizer(made.number) if step.lr is not None), None)
    worst = max((loss for loss in losses if math.isfinite(loss)), default=losses[0])
    biggest = max(ratios[:20])
    named = "the learning rate" if rate is None else f"the learning rate {rate:.3g}"
    ends = losses[-1] if math.isfinite(losses[-1]) and losses[-1] < worst / 2 else None
    course = f"grows from {losses[0]:.3g} to {worst:.3g}" + ("" if ends is None else f" and ends at {ends:.3g}")
    return Proof(
        where=made.place,
        message=f"{named} is too high: the loss {course}",
        label=f"single steps move the weights by {_times(biggest)} their size",
        evidence={"lr": rate, "losses": losses[:12], "update_to_weight": [round(ratio, 4) for ratio in ratios[:12]]},
        trials=_rates(made, rate),
        fix="start with a learning rate ten to a hundred times smaller",
    )


def _times(ratio: float) -> str:
    return f"{ratio:.0%} of" if ratio < 2 else f"{ratio:.3g} times"


def _rates(made: Made, rate: float | None) -> list[tuple[str, Plan]]:
    values = [] if rate is None else [float(f"{rate / factor:.1g}") for factor in (10, 100, 1000)]
    return [(f"lr={value:g}", set_argument(made.place, 1, "lr", f"{value:g}")) for value in values]
