"""Grid and random: every setting once, the same after a restart."""

from __future__ import annotations

import random
import sys
from typing import Any

import numpy as np
import pytest

from stepscope.errors import ConfigError, MissingExtra
from stepscope.sweep import Outcome, make_strategy, sweep_from

GRID = {"a": [1, 2], "b": ["x", "y", "z"]}
MIXED = {"lr": {"min": 1e-4, "max": 0.1, "log": True}, "width": [16, 32]}


def asked(strategy: Any, count: int, start: int = 0) -> list[Any]:
    return [strategy.ask(number) for number in range(start, start + count)]


def test_a_grid_ends_and_leaves_out_what_was_told() -> None:
    sweep = sweep_from({"method": "grid", "parameters": GRID})
    first = make_strategy(sweep)
    every = asked(first, 7)
    assert every[6] is None
    later = make_strategy(sweep)
    later.tell(Outcome(0, every[0], "finished", 0.1))
    later.taken(1, every[1])
    assert asked(later, 5, 2) == [*every[2:6], None]


def test_random_draws_depend_on_seed_and_number_alone() -> None:
    sweep = sweep_from({"method": "random", "parameters": MIXED, "seed": 5})
    one, other = make_strategy(sweep), make_strategy(sweep)
    first = asked(one, 6)
    assert asked(other, 3, 3) == first[3:]
    assert len({setting["lr"] for setting in first}) == 6
    assert asked(make_strategy(sweep, seed=6), 6) != first


def test_random_tries_nothing_twice_and_ends_with_a_small_space() -> None:
    strategy = make_strategy(sweep_from({"method": "random", "parameters": GRID, "seed": 0}))
    settings = asked(strategy, 7)
    assert settings[6] is None
    assert len({tuple(one.values()) for one in settings[:6]}) == 6


def test_no_generator_of_the_program_moves() -> None:
    before, numpys = random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index, union-attr]
    asked(make_strategy(sweep_from({"method": "random", "parameters": MIXED})), 3)
    assert random.getstate() == before
    assert np.random.get_state()[1].tolist() == numpys  # type: ignore[index, union-attr]


def test_without_optuna_the_install_line_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    sweep = sweep_from({"method": "tpe", "parameters": MIXED, "metric": "loss"})
    with pytest.raises(MissingExtra, match=r"method: tpe needs optuna.*pip install 'stepscope\[sweep\]'"):
        make_strategy(sweep)


def test_a_grid_without_end_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match="a grid needs every value listed"):
        make_strategy(sweep_from({"method": "grid", "parameters": MIXED}))
