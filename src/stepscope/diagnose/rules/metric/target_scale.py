from __future__ import annotations

import math
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.evaluation_errors import EvaluationErrors

_REGRESSION = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
_FAR, _NEAR = 3.0, 0.2


@rule("metric.target-scale", severity="warning")
def target_scale(run: Evidence) -> Iterator[Proof]:
    """The evaluation compares predictions on the scale of the training targets with targets on another scale.

    Why it matters: a model trained on normalized or logarithmic targets predicts on that scale. Its error against the
    original numbers says nothing about how good it is.

    What to do: transform the predictions back first (`pred * std + mean`, `torch.expm1(pred)`), or compare with
    targets that went through the same transformation.

    How it is found: the predictions lie in or near the range of the targets of the training loss; the targets they are
    compared with lie far outside of it.

    Bad:
        loss = F.mse_loss(model(x), (y - mean) / std)
        rmse = F.mse_loss(model(x_test), y_test).sqrt()
    Good:
        rmse = F.mse_loss(model(x_test) * std + mean, y_test).sqrt()
    """
    trained = [
        (call.look.target_low, call.look.target_high)
        for calls in run.losses.by_place(*_REGRESSION)
        for call in calls
        if call.trains and call.look is not None
    ] + [(one.low, one.high) for one in run.manual_losses.all]
    spans = [(low, high) for low, high in trained if low is not None and high is not None and math.isfinite(high - low)]
    if not spans:
        return
    low, high = min(span[0] for span in spans), max(span[1] for span in spans)
    span = high - low
    for found in run[EvaluationErrors].all:
        away = max(low - found.answers_mean, found.answers_mean - high, 0)
        apart = max(low - found.targets_mean, found.targets_mean - high)
        if span <= 0 or apart < _FAR * span or away > _NEAR * apart:
            continue
        yield Proof(
            where=found.place,
            message=f"the predictions are on the scale of the training targets ({low:.3g} to {high:.3g}), but are "
            f"compared with targets of {found.targets[0]:.3g} to {found.targets[1]:.3g}",
            label=f"mean {found.answers_mean:.3g} against mean {found.targets_mean:.3g}",
            evidence={"trained_on": [low, high], "answers": list(found.answers), "targets": list(found.targets)},
            fix="transform the predictions back to the scale of these targets before comparing",
        )
