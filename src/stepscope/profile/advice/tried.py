"""What a trial measured of a piece of advice, as it is kept in the facts; and how far an estimate may be off.

A trial in the running training is noted in `facts["trials"]`: the rule, the change, and the ratios of its rounds. So a
verdict made later from the folder alone says what was measured, and withdraws what a trial has contradicted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from stepscope.profile.advice.tip import Tip

TOO_NOISY = 0.3
_LEAST, _MOST = 0.55, 1.35
"""How much less or more than an estimated saving is shown as its range: a guess, until bench/advice.py has shown it."""


@dataclass(frozen=True)
class TriedInside:
    """One change, switched on and off in turn while the training ran."""

    ratios: Sequence[float]
    """One a round: a step's time without the change over that with it."""
    steps: int

    @property
    def gain(self) -> float:
        return float(median(self.ratios))

    @property
    def noise(self) -> float:
        """How far the rounds lie from the gain, as a share of it: half of the range of their middle half."""
        return (self.high - self.low) / 2 / self.gain

    @property
    def low(self) -> float:
        return sorted(self.ratios)[len(self.ratios) // 4]

    @property
    def high(self) -> float:
        return sorted(self.ratios)[-1 - len(self.ratios) // 4]

    @property
    def is_clear(self) -> bool:
        """Whether the rounds agree: on a busy machine they may not, and then the estimate stands."""
        if len(self.ratios) < 2 or self.noise > TOO_NOISY:
            return False
        return self.low > 1.0 or self.high < 1.02 or self.noise < 0.1

    def as_dict(self) -> dict[str, Any]:
        return {"gain": round(self.gain, 3), "noise": round(self.noise, 3), "steps": self.steps}


def trial_of(trials: Sequence[dict[str, Any]], rule: str, tip: Tip) -> TriedInside | None:
    """The trial of this very change; None where there was none."""
    if tip.trial is None:
        return None
    for one in trials:
        ratios = one.get("ratios")
        is_this = one.get("rule") == rule and one.get("kind") == tip.trial.kind
        if not is_this or one.get("settings") != tip.trial.settings or not isinstance(ratios, list):
            continue
        good = [float(ratio) for ratio in ratios if isinstance(ratio, int | float) and 0 < ratio < 1e6]
        return TriedInside(good, int(one.get("steps") or 0)) if good else None
    return None


def gain_range(saving_ns: int, share: float, step_ns: int) -> list[float]:
    """Between which factors a step gets faster, if the saving is estimated; never beyond the part it is about.

    >>> gain_range(20, 0.6, 100)
    [1.124, 1.37]
    """
    most = min(saving_ns * _MOST, max(share * step_ns, saving_ns), 0.95 * step_ns)
    return [round(step_ns / max(1.0, step_ns - saving), 3) for saving in (saving_ns * _LEAST, most)]
