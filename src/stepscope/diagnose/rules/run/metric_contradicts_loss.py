from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.stored.curves import trend_of
from stepscope.diagnose.stored.names import kind_of, split_of

if TYPE_CHECKING:
    from stepscope.diagnose.stored.stored_run import StoredRun

_FELL = 0.35


@rule(
    "run.metric-contradicts-loss",
    needs="curves, stored",
    follows=("metric.*", "eval.*", "loss.*", "run.loss-not-finite"),
)
def metric_contradicts_loss(run: StoredRun) -> Iterator[Proof]:
    """The loss fell to a fraction, but the accuracy on the same data did not rise.

    Why it matters: a model that has really learned would score higher. One of the two numbers is computed wrongly:
    argmax over the wrong axis, predictions compared with the wrong labels, a mean over the wrong count, or a loss
    that can be made small without being right.

    What to do: compute both by hand for one batch. Check the axis of `argmax`, the shape of the labels, and what is
    divided by what.

    How it is found: of two series of the same split, the median of the loss in its last tenth is under 35% of that in
    its first, and the accuracy's tenths never rise by two points (or 2%) above the first, which is under 80%.

    Bad:
        correct = (logits.argmax(0) == labels).float().mean()
    Good:
        correct = (logits.argmax(1) == labels).float().mean()
    """
    for series in run.losses:
        metric = run.partner(series, "accuracy", split_of(series.name))
        loss, score = trend_of(series, least=10), None if metric is None else trend_of(metric, least=10)
        if metric is None or loss is None or score is None or kind_of(metric.name) != "accuracy":
            continue
        whole = 100.0 if max(score.medians) > 1.5 else 1.0
        rose = max(score.medians) - score.first
        if 0 < loss.last < _FELL * loss.first and rose < 0.02 * whole and 0 <= score.first < 0.8 * whole:
            yield Proof(
                where=None,
                message=f"{series.name} fell from {loss.first:.4g} to {loss.last:.4g}, "
                f"but {metric.name} stayed at {score.first:.3g}",
                fix="compute both by hand for one batch: the axis of argmax, the labels, the count it is divided by",
                evidence={
                    "loss": series.name,
                    "metric": metric.name,
                    "loss medians": list(loss.medians),
                    "metric medians": list(score.medians),
                },
            )
            return
