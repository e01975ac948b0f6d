"""Optuna's samplers as strategies: `method: tpe`, `gp`, `cmaes`, `qmc` (and `bayes`, which is tpe)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Literal

from stepscope.errors import MissingExtra
from stepscope.sweep.distributions import Distributions
from stepscope.sweep.outcome import Outcome
from stepscope.sweep.space import SearchSpace

METHODS: dict[str, tuple[str, str | None]] = {
    "random": ("RandomSampler", None),
    "tpe": ("TPESampler", None),
    "bayes": ("TPESampler", None),
    "gp": ("GPSampler", "torch"),
    "cmaes": ("CmaEsSampler", "cmaes"),
    "qmc": ("QMCSampler", "scipy"),
    "nsgaii": ("NSGAIISampler", None),
}
"""A method's name with the class in `optuna.samplers` and what that needs besides."""


def need_optuna(purpose: str) -> Any:
    """Optuna, quiet; `MissingExtra` without it."""
    if find_spec("optuna") is None:
        raise MissingExtra(purpose, "optuna", extra="sweep")
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def make_sampler(optuna: Any, method: str, seed: int | None, *, parallel: int) -> Any:
    """One of Optuna's samplers, by the method's name."""
    name, package = METHODS[method]
    if package is not None and find_spec(package) is None:
        raise MissingExtra(f"method: {method}", package)
    options: dict[str, Any] = {"seed": seed}
    if name == "TPESampler" and parallel > 1:
        options["constant_liar"] = True  # so that runs side by side do not all try the same place
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "experimental": our users chose a name, not a class
        return getattr(optuna.samplers, name)(**options)


def state_of(optuna: Any, outcome: Outcome) -> Any:
    """How an outcome counts in a study."""
    states = optuna.trial.TrialState
    if outcome.state == "finished":
        return states.FAIL if outcome.value is None else states.COMPLETE
    # A run that diverged is a bad place to be, which a sampler should know; a crash says nothing of the place.
    return states.PRUNED if outcome.state in ("pruned", "diverged", "timeout") else states.FAIL


class OptunaStrategy:
    """A study in memory that is asked and told; results from before a restart are passed to it again."""

    def __init__(
        self, method: str, space: SearchSpace, goal: Literal["min", "max"], seed: int | None, parallel: int = 1
    ) -> None:
        self._optuna = need_optuna(f"method: {method}")
        self._space = space
        self._goal = goal
        self._method = method
        self._seed = seed
        self._parallel = parallel
        self._distributions = Distributions(self._optuna, space, method)
        self._told: list[Outcome] = []
        self._study: Any = None
        self._open: dict[int, Any] = {}
        self._sampler(0)  # says at once what is missing

    def _sampler(self, before: int) -> Any:
        # After a restart the generator must not repeat the draws it began with.
        seed = None if self._seed is None else self._seed + 7919 * before
        return make_sampler(self._optuna, self._method, seed, parallel=self._parallel)

    def _opened(self) -> Any:
        if self._study is None:
            direction = "minimize" if self._goal == "min" else "maximize"
            self._study = self._optuna.create_study(direction=direction, sampler=self._sampler(len(self._told)))
            for outcome in self._told:
                self._add(outcome)
        return self._study

    def ask(self, number: int) -> dict[str, Any] | None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trial = self._opened().ask(self._distributions.all)
        self._open[number] = trial
        return self._distributions.decoded(trial.params)

    def taken(self, number: int, params: Mapping[str, Any]) -> None:
        if self._space.contains(params):
            study = self._opened()
            study.enqueue_trial(self._distributions.encoded(params))
            self._open[number] = study.ask(self._distributions.all)

    def tell(self, outcome: Outcome) -> None:
        if not self._space.contains(outcome.params):  # of an earlier form of the sweep
            return
        trial = self._open.pop(outcome.number, None)
        if trial is None:
            self._told.append(outcome)
            if self._study is not None:
                self._add(outcome)
            return
        for step, value in (outcome.readings or {}).items():
            trial.report(value, step)
        state = state_of(self._optuna, outcome)
        self._study.tell(trial, outcome.value if state.name == "COMPLETE" else None, state)

    def _add(self, outcome: Outcome) -> None:
        state = state_of(self._optuna, outcome)
        if state.name == "FAIL":
            return
        self._study.add_trial(
            self._optuna.trial.create_trial(
                state=state,
                value=outcome.value if state.name == "COMPLETE" else None,
                params=self._distributions.encoded(outcome.params),
                distributions=self._distributions.all,
                intermediate_values=dict(outcome.readings or {}),
            )
        )
