"""Optuna's pruners, fed with what is read from the run folders; they need no sampler of Optuna's."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stepscope.errors import ConfigError
from stepscope.sweep.early_stop import EarlyStop
from stepscope.sweep.samplers import need_optuna

_CLASSES = {
    "none": "NopPruner",
    "median": "MedianPruner",
    "asha": "SuccessiveHalvingPruner",
    "percentile": "PercentilePruner",
    "hyperband": "HyperbandPruner",
    "patient": "PatientPruner",
    "threshold": "ThresholdPruner",
    "wilcoxon": "WilcoxonPruner",
}
_NEEDED: dict[str, dict[str, Any]] = {"percentile": {"percentile": 50.0}, "patient": {"patience": 5}}
ALL_UP_TO = 200
"""Readings of one look that are all reported; of more, those at round steps."""


def pruner_of(optuna: Any, how: EarlyStop) -> Any:
    """The pruner of Optuna's that a sweep file asks for."""
    options = {**_NEEDED.get(how.pruner, {}), **dict(how.options)}
    if how.pruner == "patient":
        options["wrapped_pruner"] = None
    if how.pruner == "median":
        options = {"n_startup_trials": how.after_runs, "n_warmup_steps": how.after_steps}
    if how.pruner == "asha":
        options = {"min_resource": how.min_steps, "reduction_factor": how.eta}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "experimental"
            return getattr(optuna.pruners, _CLASSES[how.pruner])(**options)
    except (TypeError, ValueError) as fault:
        raise ConfigError(f"early_stop: Optuna's {_CLASSES[how.pruner]} does not take these options: {fault}") from None


class OptunaPruner:
    """A study whose trials have no parameters, only readings."""

    def __init__(self, how: EarlyStop, goal: Literal["min", "max"]) -> None:
        self._optuna = need_optuna(f"early_stop: {{pruner: {how.pruner}}}")
        self._by_readings = how.by == "readings"
        self._after = how.after_steps
        direction = "minimize" if goal == "min" else "maximize"
        # Hyperband deals trials out to its brackets by the study's name: a random one would differ at each start.
        self._study = self._optuna.create_study(
            study_name="sweep", direction=direction, pruner=pruner_of(self._optuna, how)
        )
        self._trials: dict[int, Any] = {}
        self._reported: dict[int, int] = {}

    def seen(self, number: int, steps: npt.NDArray[np.int64], values: npt.NDArray[np.float64]) -> str | None:
        if number not in self._trials:
            self._trials[number], self._reported[number] = self._study.ask(), -1
        trial, before = self._trials[number], self._reported[number]
        places = np.arange(len(values)) if self._by_readings else steps
        fresh = [(int(at), float(value)) for at, value in zip(places, values, strict=True) if at > before]
        if not fresh:
            return None
        self._reported[number] = fresh[-1][0]
        reported = [one for one in fresh if np.isfinite(one[1]) and one[0] >= self._after]
        if len(fresh) > ALL_UP_TO:
            reported = [one for one in reported if is_round(one[0])]
        for at, value in reported:
            trial.report(value, at)
            if trial.should_prune():
                return f"{value:.4g} at step {at}, by Optuna's {type(self._study.pruner).__name__}"
        return None

    def ended(self, number: int, was_pruned: bool) -> None:
        trial = self._trials.pop(number, None)
        if trial is None:
            return
        states = self._optuna.trial.TrialState
        known = self._study.trials[trial.number].intermediate_values
        if was_pruned or not known:
            self._study.tell(trial, state=states.PRUNED if known else states.FAIL)
        else:
            self._study.tell(trial, known[max(known)])


def is_round(step: int) -> bool:
    """Few significant digits: steps that all runs of a sweep report, however long they are.

    >>> [step for step in (7, 42, 120, 123, 4500, 4510) if is_round(step)]
    [7, 42, 120, 4500]
    """
    return step < 100 or step % 10 ** (len(str(step)) - 2) == 0
