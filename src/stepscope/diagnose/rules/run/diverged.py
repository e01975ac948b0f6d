from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.stored.curves import trend_of

if TYPE_CHECKING:
    from stepscope.diagnose.stored.stored_run import StoredRun

_TIMES_BEST = 10.0
_TIMES_START = 3.0


@rule("run.diverged", needs="stored", follows=("run.loss-not-finite", "opt.lr-too-high", "grad.exploding"))
def diverged(run: StoredRun) -> Iterator[Proof]:
    """The training loss fell, then rose far above where it began.

    Why it matters: the weights have left the region where training works. More steps will not bring them back.

    What to do: go back to a checkpoint from before the rise, lower the learning rate, warm it up, or clip gradients.

    How it is found: the curve is cut into tenths. The medians of the last two are more than 10 times that of the best
    tenth and more than 3 times that of the first. Losses that play against another (those of a
    GAN, of reinforcement learning) are left out.

    Bad:
        optimizer = torch.optim.SGD(model.parameters(), lr=10.0)
    Good:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    """
    for series in run.training_losses:
        trend = trend_of(series)
        if trend is None or min(trend.medians) <= 0:
            continue
        best = trend.medians[trend.best]
        lowest_late = min(trend.medians[-2:])
        if lowest_late > _TIMES_BEST * best and lowest_late > _TIMES_START * trend.first:
            step = trend.steps[trend.best]
            yield Proof(
                where=None,
                message=f"{series.name} was {best:.4g} around step {step:,} and ended at {trend.last:.4g}",
                fix="lower the learning rate or clip gradients, and restart from before the rise",
                label=f"{trend.last / best:.0f} times its best",
                evidence={
                    "metric": series.name,
                    "first": trend.first,
                    "best": best,
                    "best step": step,
                    "last": trend.last,
                    "medians": list(trend.medians),
                },
            )
            return
