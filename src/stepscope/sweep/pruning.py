"""Stopping runs that fall behind the others: Optuna's pruners, fed with what is read from the run folders.

They need no sampler of Optuna's, and nothing in the script.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stepscope.errors import ConfigError
from stepscope.sweep.early_stop import EarlyStop
from stepscope.sweep.samplers import need_optuna

Steps = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

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


def make_pruner(how: EarlyStop, goal: Literal["min", "max"]) -> Pruner | None:
    """The pruner that a sweep file asks for; `MissingExtra` without Optuna."""
    return None if how.pruner == "none" else Pruner(how, goal)


def optunas_pruner(optuna: Any, how: EarlyStop) -> Any:
    """Optuna's class for it, with its arguments."""
    options = {**_NEEDED.get(how.pruner, {}), **dict(how.options)}
    if how.pruner == "patient":
        options["wrapped_pruner"] = None
    if how.pruner == "median":
        runs = how.after_runs
        options = {"n_startup_trials": runs, "n_min_trials": runs, "n_warmup_steps": how.after_steps}
    if how.pruner == "asha":
        options = {"min_resource": how.min_steps, "reduction_factor": how.eta}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "experimental"
            return getattr(optuna.pruners, _CLASSES[how.pruner])(**options)
    except (TypeError, ValueError) as fault:
        raise ConfigError(f"early_stop: Optuna's {_CLASSES[how.pruner]} does not take these options: {fault}") from None


class Pruner:
    """A study whose trials have no parameters, only readings: says why a run should be stopped."""

    def __init__(self, how: EarlyStop, goal: Literal["min", "max"]) -> None:
        self._optuna = need_optuna(f"early_stop: {{pruner: {how.pruner}}}")
        self._how = how
        direction = "minimize" if goal == "min" else "maximize"
        # Hyperband deals trials out to its brackets by the study's name: a random one would differ at each start.
        self.study = self._optuna.create_study(
            study_name="sweep", direction=direction, pruner=optunas_pruner(self._optuna, how)
        )
        self._trials: dict[int, Any] = {}
        self._reported: dict[int, int] = {}

    def seen(self, number: int, steps: Steps, values: Floats) -> str | None:
        """Take in a run's metric so far; why it should be stopped now, or None."""
        if number not in self._trials:
            self._trials[number] = self.study.ask()
        return next(self._reasons(number, steps, values), None)

    def ended(self, number: int, was_pruned: bool) -> None:
        """The run is over."""
        self._reported.pop(number, None)
        trial = self._trials.pop(number, None)
        if trial is None:
            return
        states = self._optuna.trial.TrialState
        known = self.study.trials[trial.number].intermediate_values
        if was_pruned or not known:
            self.study.tell(trial, state=states.PRUNED if known else states.FAIL)
        else:
            self.study.tell(trial, known[max(known)])

    def past(self, number: int, steps: Steps, values: Floats, was_pruned: bool) -> None:
        """A run of an earlier start of the sweep: all of it counts, whatever its readings would mean today."""
        self._trials[number] = self.study.ask()
        for _ in self._reasons(number, steps, values):
            pass
        self.ended(number, was_pruned)

    def _reasons(self, number: int, steps: Steps, values: Floats) -> Iterator[str]:
        """Report the readings that are new one by one; for each that should end the run, why."""
        trial, before = self._trials[number], self._reported.get(number, -1)
        counts = np.arange(1, len(values) + 1)
        by_readings = self._how.by == "readings"
        places = counts if by_readings else steps
        fresh = [
            (int(at), int(count), float(value))
            for at, count, value in zip(places, counts, values, strict=True)
            if at > before
        ]
        if not fresh:
            return
        self._reported[number] = fresh[-1][0]
        least = self._how.after_readings if self._how.pruner == "median" else 0
        for at, count, value in fresh:
            if not np.isfinite(value) or at < self._how.after_steps or (len(fresh) > ALL_UP_TO and not is_round(at)):
                continue
            trial.report(value, at)
            if trial.should_prune() and count >= least:
                unit = "reading" if by_readings else "step"
                yield f"{value:.4g} at {unit} {at}, by Optuna's {_CLASSES[self._how.pruner]}"


def is_round(step: int) -> bool:
    """Few significant digits: steps that all runs of a sweep report, however long they are.

    >>> [step for step in (7, 42, 120, 123, 4500, 4510) if is_round(step)]
    [7, 42, 120, 4500]
    """
    return step < 100 or step % 10 ** (len(str(step)) - 2) == 0
