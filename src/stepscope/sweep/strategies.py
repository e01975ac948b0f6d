"""How the next setting is chosen: a grid, at random, or by one of Optuna's samplers (`samplers.py`).

A strategy is asked for the setting of run number n and told how runs ended. Results from before a restart are passed
again, so that a sweep continues as if it had never stopped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from stepscope.errors import ConfigError
from stepscope.sweep.outcome import Outcome
from stepscope.sweep.samplers import OptunaStrategy
from stepscope.sweep.space import SearchSpace

if TYPE_CHECKING:
    from stepscope.sweep.spec import Sweep

TRIES = 200
"""Draws for a setting that was not there yet, before a small space counts as exhausted."""


class Strategy(Protocol):
    def ask(self, number: int) -> dict[str, Any] | None:
        """The setting of run `number` (from 0); None when there is nothing left to try."""

    def taken(self, number: int, params: Mapping[str, Any]) -> None:
        """An earlier start of the sweep has begun this one; its result will come."""

    def tell(self, outcome: Outcome) -> None:
        """How a run ended; also of those of an earlier start, before anything is asked."""


def make_strategy(sweep: Sweep, seed: int | None = None) -> Strategy:
    """The strategy that a sweep's `method` names."""
    chosen = seed if seed is not None else sweep.seed
    if sweep.method == "grid":
        return Grid(sweep.space)
    if sweep.method == "random":
        return AtRandom(sweep.space, chosen)
    if sweep.metric is None:
        raise ConfigError(f"method {sweep.method} learns from a metric; add `metric: {{name: val_loss, goal: min}}`")
    return OptunaStrategy(sweep.method, sweep.space, sweep.metric.goal, chosen, parallel=sweep.parallel)


class Grid:
    """Every setting once, in order; those with a result are not asked again."""

    def __init__(self, space: SearchSpace) -> None:
        next(space.grid())  # says at once what has no end
        self._rest: Iterator[dict[str, Any]] = space.grid()
        self._done: set[bytes] = set()

    def ask(self, number: int) -> dict[str, Any] | None:
        for params in self._rest:
            if _key(params) not in self._done:
                self._done.add(_key(params))
                return params
        return None

    def taken(self, number: int, params: Mapping[str, Any]) -> None:
        self._done.add(_key(params))

    def tell(self, outcome: Outcome) -> None:
        self._done.add(_key(outcome.params))


class AtRandom:
    """Draws that depend on the seed and the run's number alone: the same after a restart, and in any order.

    In a space with few settings none is tried twice.
    """

    def __init__(self, space: SearchSpace, seed: int | None) -> None:
        self._space = space
        self._seed = seed if seed is not None else Random().getrandbits(32)
        self._is_finite = space.size is not None
        self._done: set[bytes] = set()

    def ask(self, number: int) -> dict[str, Any] | None:
        for turn in range(TRIES):
            params = self._space.sample(Random(f"{self._seed}/{number}/{turn}"))
            if not self._is_finite or _key(params) not in self._done:
                self._done.add(_key(params))
                return params
        return self._last_ones()

    def _last_ones(self) -> dict[str, Any] | None:
        """Chance keeps missing what is left: take it in order."""
        if (self._space.size or 0) > 100_000:
            return None
        for params in self._space.grid():
            if _key(params) not in self._done:
                self._done.add(_key(params))
                return params
        return None

    def taken(self, number: int, params: Mapping[str, Any]) -> None:
        if self._is_finite:
            self._done.add(_key(params))

    def tell(self, outcome: Outcome) -> None:
        self.taken(outcome.number, outcome.params)


def is_optunas(method: str) -> bool:
    return method not in ("grid", "random")


def _key(params: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(dict(sorted(params.items())), enc_hook=str)
