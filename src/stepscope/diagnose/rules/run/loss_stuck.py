from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.stored.curves import Trend, trend_of

if TYPE_CHECKING:
    from stepscope.diagnose.stored.stored_run import StoredRun

_LEAST = 20


@rule("run.loss-stuck", needs="curves, stored", follows=("grad.*", "autograd.*", "opt.*", "mode.*", "loss.*", "init.*"))
def loss_stuck(run: StoredRun) -> Iterator[Proof]:
    """The training loss did not change at all, not beyond its noise, or only upward.

    Why it matters: nothing was learned: the loss does not depend on the weights, or the weights never change.

    What to do: run the script with `stepscope run`, which checks that gradients reach the weights and that the
    optimizer holds them. Then try one batch: a model that cannot overfit it has a bug.

    How it is found: 20 or more values of the training loss that are equal to the last digit are a warning. A curve of
    100 or more points whose tenths differ no more than chance would have them is worth knowing, and so is one that
    ends no lower than it began.

    Bad:
        optimizer = torch.optim.Adam(old_model.parameters())   # the model in use is another one
    Good:
        optimizer = torch.optim.Adam(model.parameters())
    """
    for series in run.training_losses:
        values = series.values[np.isfinite(series.values)]
        if len(values) >= _LEAST and float(values.min()) == float(values.max()):
            yield Proof(
                where=None,
                message=f"{series.name} is {float(values[0]):.6g} at each of its {len(values):,} points",
                fix="run it with `stepscope run` to see where the gradient is cut off from the weights",
                evidence={"metric": series.name, "value": float(values[0]), "points": len(values)},
            )
            return
        trend = trend_of(series, least=100)
        if trend is None:
            continue
        start = float(values[0])
        flat = _is_flat(trend)
        if flat or 0 < 0.98 * start < min(trend.medians[-5:]) < 1.5 * start:
            yield Proof(
                where=None,
                message=f"{series.name} never left {trend.first:.4g}: its tenths differ only by chance"
                if flat
                else f"{series.name} began at {start:.4g} and is {trend.last:.4g} after {trend.points:,} points: "
                "it has not fallen",
                fix="try a learning rate ten times smaller or larger; `stepscope check` tries to overfit one batch",
                evidence={"metric": series.name, "medians": list(trend.medians), "noise": trend.noise},
                severity="info",
            )
            return


def _is_flat(trend: Trend) -> bool:
    """Whether ten medians of nothing but noise would differ as much, in a curve fine enough to show a change of 2%."""
    by_chance = 5 * 1.25 * trend.noise / math.sqrt(trend.points / len(trend.medians))
    return max(trend.medians) - min(trend.medians) < by_chance < 0.02 * abs(trend.first)
