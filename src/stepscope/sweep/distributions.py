"""A sweep's parameters as Optuna's distributions, and values on the way there and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stepscope.errors import ConfigError
from stepscope.sweep.domains import Choice, Domain, Range
from stepscope.sweep.space import SearchSpace


class Distributions:
    """Of the parameters that vary; the others have one value."""

    def __init__(self, optuna: Any, space: SearchSpace, method: str) -> None:
        self._optuna, self._space, self._method = optuna, space, method
        self._coded: dict[str, list[Any]] = {}
        self.all = {
            name: self._distribution(name, domain) for name, domain in space.domains.items() if name in space.varied
        }
        self._fixed = {
            name: domain.values[0]
            for name, domain in space.domains.items()
            if name not in space.varied and isinstance(domain, Choice)
        }

    def encoded(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """As Optuna keeps them: those that vary."""
        return {name: self._encoded(name, params[name]) for name in self.all}

    def are_all_in(self, params: Mapping[str, Any]) -> bool:
        """Whether a trial has all its settings: another process may be drawing them, or was killed meanwhile."""
        return all(name in params for name in self.all)

    def decoded(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """As a run gets them: all."""
        drawn = {name: self._decoded(name, value) for name, value in params.items()}
        return {name: drawn[name] if name in drawn else self._fixed[name] for name in self._space.domains}

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
