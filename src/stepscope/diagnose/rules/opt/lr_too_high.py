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
    to many times its first value and does not recover.

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
    return Proof(
        where=made.place,
        message=f"the learning rate {rate:.3g} is too high: the loss grows from {losses[0]:.3g} to {worst:.3g}"
        if rate is not None
        else f"the learning rate is too high: the loss grows from {losses[0]:.3g} to {worst:.3g}",
        label=f"single steps move the weights by {biggest:.0%} of their size",
        evidence={"lr": rate, "losses": losses[:12], "update_to_weight": [round(ratio, 4) for ratio in ratios[:12]]},
        trials=_rates(made, rate),
        fix="start with a learning rate ten to a hundred times smaller",
    )


def _rates(made: Made, rate: float | None) -> list[tuple[str, Plan]]:
    values = [] if rate is None else [float(f"{rate / factor:.1g}") for factor in (10, 100, 1000)]
    return [(f"lr={value:g}", set_argument(made.place, 1, "lr", f"{value:g}")) for value in values]
