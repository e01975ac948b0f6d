from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_UPDATES = 10
_TAKES = 0.7


@rule("opt.ema-inverted", severity="warning")
def ema_inverted(run: Evidence) -> Iterator[Proof]:
    """A moving average of the weights takes nearly all of the new weights in each update: its factors are swapped.

    Why it matters: the average is then the model of a step ago. It smooths nothing, so evaluating it, or using it as a
    slow target, gains nothing.

    What to do: keep most of the average: `average.mul_(decay).add_(weight, alpha=1 - decay)` with a decay near 1.

    How it is found: with gradients off, a tensor is mixed with a trained weight by two factors that add up to 1, the
    same in at least ten updates, and the weight's factor is 0.7 or more.

    Bad:
        average.mul_(1 - decay).add_(weight, alpha=decay)       # decay = 0.99
    Good:
        average.mul_(decay).add_(weight, alpha=1 - decay)
    """
    for found in run.averaging.all:
        if found.count < _UPDATES or found.lowest < _TAKES or found.highest - found.lowest > 1e-3:
            continue
        yield Proof(
            where=found.place,
            message=f"the moving average keeps {found.keep:.3g} of itself and takes {found.lowest:.3g} of the new "
            "weights: the factors are swapped",
            label="this is the previous step's model, not an average",
            evidence={"keeps": found.keep, "takes": found.lowest, "updates": found.count},
            fix="swap the factors: keep `decay` of the average, take `1 - decay` of the weights",
        )
