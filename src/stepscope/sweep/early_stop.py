"""When a run is not worth continuing: what the sweep file says about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stepscope.sweep.fields import Fields

PRUNERS = ("none", "median", "asha", "percentile", "hyperband", "patient", "threshold", "wilcoxon")
_BY_FIELDS = ("none", "median", "asha")
"""Their arguments are fields of the sweep file."""


@dataclass(frozen=True)
class EarlyStop:
    """Which runs are stopped before their end."""

    diverged: int = 3
    """Readings in a row of the metric or the loss that are NaN, Inf or far above where they began; 0: never."""
    explodes: float = 100.0
    """How many times its first readings a loss must be to count as exploding."""
    pruner: str = "none"
    """median: worse than half of the others were at this step · asha: not among the best 1/eta at a rung."""
    after_steps: int = 0
    """No run is pruned before this step."""
    after_readings: int = 3
    """median: nor before it has this many readings of the metric; the first ones say little."""
    after_runs: int = 4
    """median: not before this many runs have got as far."""
    min_steps: int = 1
    by: str = "step"
    """What those are counted in: the script's steps, or readings of the metric (as W&B does)."""
    eta: int = 3
    """asha: rungs are at min_steps, min_steps * eta, min_steps * eta² ..."""
    options: tuple[tuple[str, Any], ...] = ()
    """Arguments of the other pruners, by Optuna's names."""


def early_stop_from(raw: Any, where: str) -> EarlyStop:
    """From the sweep file; W&B's `early_terminate: {type: hyperband, min_iter: 3}` is asha."""
    if raw is None:
        return EarlyStop()
    if isinstance(raw, str):
        raw = {"pruner": raw}
    if raw is False:
        return EarlyStop(diverged=0)
    fields = Fields(raw, where)
    if "type" in fields:
        return _from_wandb(fields)
    diverged = fields.take("diverged", default=3)
    if isinstance(diverged, bool):
        diverged = 3 if diverged else 0
    if not isinstance(diverged, int) or diverged < 0:
        raise fields.wrong("diverged", diverged, "a number of readings, or false")
    pruner = fields.one_of("pruner", PRUNERS, "none")
    options = fields.take("options", default={})
    if not isinstance(options, dict) or (options and pruner in _BY_FIELDS):
        raise fields.wrong("options", options, "arguments of another pruner of Optuna's")
    made = EarlyStop(
        diverged=diverged,
        explodes=_above_one(fields, "explodes", 100.0),
        pruner=pruner,
        after_steps=fields.whole("after_steps", default=0) or 0,
        after_readings=fields.whole("after_readings", least=1, default=3) or 3,
        after_runs=fields.whole("after_runs", least=1, default=4) or 4,
        min_steps=fields.whole("min_steps", "min_iter", least=1, default=1) or 1,
        eta=fields.whole("eta", least=2, default=3) or 3,
        by=fields.one_of("by", ("step", "readings"), "step"),
        options=tuple(sorted(options.items())),
    )
    fields.done()
    return made


def _from_wandb(fields: Fields) -> EarlyStop:
    fields.one_of("type", ("hyperband", "envelope"), "hyperband")
    eta = fields.whole("eta", least=2, default=3) or 3
    brackets = fields.whole("s", least=1, default=4) or 4
    least, most = fields.whole("min_iter", least=1), fields.whole("max_iter", least=1)
    fields.take("strict")
    fields.done()
    if least is None:
        least = 1 if most is None else max(most // eta**brackets, 1)
    return EarlyStop(pruner="asha", min_steps=least, eta=eta, by="readings")


def _above_one(fields: Fields, name: str, default: float) -> float:
    value = fields.number(name, default=default) or 0.0
    if value <= 1:
        raise fields.wrong(name, value, "a number above 1")
    return value
