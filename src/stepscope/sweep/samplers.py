"""Optuna's samplers as strategies: `method: tpe`, `gp`, `cmaes`, `qmc` (and `bayes`, which is tpe)."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Literal

from stepscope.errors import ConfigError, MissingExtra
from stepscope.sweep.domains import Choice, Domain, Range
from stepscope.sweep.space import SearchSpace
from stepscope.sweep.strategies import Outcome

__all__ = ["METHODS", "OptunaStrategy", "need_optuna"]

METHODS: dict[str, tuple[str, str | None]] = {
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


class OptunaStrategy:
    """A study in memory that is asked and told; what was found before a restart is told to it again."""

    def __init__(
        self, method: str, space: SearchSpace, goal: Literal["min", "max"], seed: int | None, parallel: int = 1
    ) -> None:
        self._optuna = need_optuna(f"method: {method}")
        self._space = space
        self._goal = goal
        self._method = method
        self._seed = seed
        self._parallel = parallel
        self._coded: dict[str, list[Any]] = {}
        self._distributions = {
            name: self._distribution(name, domain) for name, domain in space.domains.items() if name in space.varied
        }
        self._fixed = {
            name: domain.values[0]
            for name, domain in space.domains.items()
            if name not in space.varied and isinstance(domain, Choice)
        }
        self._told: list[Outcome] = []
        self._study: Any = None
        self._open: dict[int, Any] = {}
        self._sampler(0)  # says at once what is missing

    def _sampler(self, before: int) -> Any:
        name, package = METHODS[self._method]
        if package is not None and find_spec(package) is None:
            raise MissingExtra(f"method: {self._method}", package)
        # After a restart the generator must not repeat the draws it began with.
        options: dict[str, Any] = {"seed": None if self._seed is None else self._seed + 7919 * before}
        if name == "TPESampler" and self._parallel > 1:
            options["constant_liar"] = True  # so that runs side by side do not all try the same place
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "experimental": our users chose a name, not a class
            return getattr(self._optuna.samplers, name)(**options)

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
            trial = self._opened().ask(self._distributions)
        self._open[number] = trial
        drawn = {name: self._decoded(name, value) for name, value in trial.params.items()}
        return {name: drawn[name] if name in drawn else self._fixed[name] for name in self._space.domains}

    def taken(self, number: int, params: Mapping[str, Any]) -> None:
        if self._space.contains(params):
            study = self._opened()
            study.enqueue_trial({name: self._encoded(name, params[name]) for name in self._distributions})
            self._open[number] = study.ask(self._distributions)

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
        state = self._state(outcome)
        self._study.tell(trial, outcome.value if state.name == "COMPLETE" else None, state)

    def _state(self, outcome: Outcome) -> Any:
        states = self._optuna.trial.TrialState
        if outcome.state == "finished":
            return states.FAIL if outcome.value is None else states.COMPLETE
        # A run that diverged is a bad place to be, which a sampler should know; a crash says nothing of the place.
        return states.PRUNED if outcome.state in ("pruned", "diverged", "timeout") else states.FAIL

    def _add(self, outcome: Outcome) -> None:
        state = self._state(outcome)
        if state.name == "FAIL":
            return
        self._study.add_trial(
            self._optuna.trial.create_trial(
                state=state,
                value=outcome.value if state.name == "COMPLETE" else None,
                params={name: self._encoded(name, outcome.params[name]) for name in self._distributions},
                distributions=self._distributions,
                intermediate_values=dict(outcome.readings or {}),
            )
        )

    def _distribution(self, name: str, domain: Domain) -> Any:
        kinds = self._optuna.distributions
        if isinstance(domain, Choice):
            if any(one is not None and not isinstance(one, bool | int | float | str) for one in domain.values):
                self._coded[name] = list(domain.values)  # lists and the like travel as text
            return kinds.CategoricalDistribution([self._encoded(name, one) for one in domain.values])
        if isinstance(domain, Range) and domain.whole and (not domain.log or domain.step in (None, 1)):
            return kinds.IntDistribution(int(domain.low), int(domain.high), domain.log, int(domain.step or 1))
        if isinstance(domain, Range) and not domain.whole and not (domain.log and domain.step):
            return kinds.FloatDistribution(domain.low, domain.high, log=domain.log, step=domain.step)
        raise ConfigError(
            f"parameters.{name}: method {self._method} takes lists and ranges with min and max (log or with a step, "
            "not both); change it, or use method: random"
        )

    def _encoded(self, name: str, value: Any) -> Any:
        return json.dumps(value, sort_keys=True) if name in self._coded else value

    def _decoded(self, name: str, value: Any) -> Any:
        if name in self._coded:
            return next(one for one in self._coded[name] if self._encoded(name, one) == value)
        domain = self._space.domains[name]
        is_stepped = isinstance(domain, Range) and domain.step is not None and not domain.whole
        return float(f"{value:.12g}") if is_stepped else value
