"""What parameters may be, and what is drawn from them."""

from __future__ import annotations

import math
from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest

from stepscope.errors import ConfigError
from stepscope.sweep.domains import Beta, Choice, Range
from stepscope.sweep.parameters import domain_from
from stepscope.sweep.space import SearchSpace, nested


def drawn(raw: Any, count: int = 2000) -> np.ndarray[Any, Any]:
    domain = domain_from(raw, "p")
    rng = Random(7)
    return np.array([domain.sample(rng) for _ in range(count)])


def test_two_whole_ends_mean_whole_numbers_and_all_of_them_come() -> None:
    values = drawn({"min": 2, "max": 5})
    assert sorted(set(values.tolist())) == [2, 3, 4, 5]
    assert min(Counter(values.tolist()).values()) > 400


def test_a_float_range_is_even_and_a_logarithmic_one_is_even_in_its_decades() -> None:
    flat = drawn({"min": 0.0, "max": 1.0})
    assert abs(flat.mean() - 0.5) < 0.02
    assert abs(flat.std() - 1 / math.sqrt(12)) < 0.01
    log = np.log10(drawn({"min": 1e-4, "max": 1e-1, "log": True}))
    assert -4 <= log.min() < -3.99
    assert -1.01 < log.max() <= -1
    assert np.allclose(np.histogram(log, bins=3, range=(-4, -1))[0], 2000 / 3, atol=70)


def test_steps_have_no_dust_behind_the_comma() -> None:
    values = sorted(set(drawn({"min": 0, "max": 0.5, "step": 0.1}).tolist()))
    assert values == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]


def test_the_ends_of_a_whole_logarithmic_range_are_reached() -> None:
    assert sorted(set(drawn({"min": 1, "max": 4, "log": True}).tolist())) == [1, 2, 3, 4]


def test_probabilities_are_kept() -> None:
    share = (drawn({"values": ["a", "b"], "probabilities": [0.9, 0.1]}) == "a").mean()
    assert abs(share - 0.9) < 0.03


@pytest.mark.parametrize(
    ("raw", "low", "high"),
    [
        ({"distribution": "uniform", "min": 0, "max": 1}, 0.0, 1.0),
        ({"distribution": "log_uniform_values", "min": 1e-5, "max": 1e-1}, 1e-5, 1e-1),
        ({"distribution": "log_uniform", "min": -9, "max": 0}, math.exp(-9), 1.0),
        ({"distribution": "inv_log_uniform", "min": 1, "max": 3}, math.exp(-3), math.exp(-1)),
        ({"distribution": "inv_log_uniform_values", "min": 0.1, "max": 10}, 0.1, 10.0),
    ],
)
def test_wandbs_distributions_have_wandbs_meaning(raw: dict[str, Any], low: float, high: float) -> None:
    values = drawn(raw)
    span = high / low if low > 0 else 1.0
    assert low <= values.min()
    assert values.max() <= high
    assert values.min() < (low * span**0.02 if low > 0 else 0.02)
    assert values.max() > (high / span**0.02 if low > 0 else 0.98)


def test_wandbs_quantized_values_are_multiples_of_q() -> None:
    values = drawn({"distribution": "q_uniform", "min": 1, "max": 50, "q": 8})
    assert set(values.tolist()) == {0, 8, 16, 24, 32, 40, 48}
    logs = drawn({"distribution": "q_log_uniform_values", "min": 16, "max": 256, "q": 16})
    assert all(value % 16 == 0 for value in logs)
    assert logs.min() == 16
    assert logs.max() == 256


def test_normal_and_beta() -> None:
    normal = drawn({"distribution": "normal", "mu": 3, "sigma": 2})
    assert abs(normal.mean() - 3) < 0.15
    assert abs(normal.std() - 2) < 0.1
    assert abs(np.log(drawn({"distribution": "log_normal", "mu": 0, "sigma": 1})).mean()) < 0.07
    assert domain_from({"distribution": "beta", "a": 2, "b": 2}, "p") == Beta(2.0, 2.0)


def test_one_value_is_a_constant_and_nested_names_get_dots() -> None:
    space = SearchSpace.parse(
        {"epochs": 5, "optimizer": {"parameters": {"lr": {"min": 0.1, "max": 0.2}, "name": {"value": "adam"}}}}
    )
    assert list(space.domains) == ["epochs", "optimizer.lr", "optimizer.name"]
    assert space.varied == ["optimizer.lr"]
    setting = space.sample(Random(0))
    assert nested(setting) == {"epochs": 5, "optimizer": {"lr": setting["optimizer.lr"], "name": "adam"}}


def test_a_grid_has_every_setting_once() -> None:
    space = SearchSpace.parse({"a": [1, 2, 3], "b": {"min": 0, "max": 1, "step": 0.5}, "c": [True, False]})
    settings = list(space.grid())
    assert space.size == len(settings) == 18
    assert len({tuple(one.values()) for one in settings}) == 18
    assert settings[:3] == [
        {"a": 1, "b": 0.0, "c": True},
        {"a": 1, "b": 0.0, "c": False},
        {"a": 1, "b": 0.5, "c": True},
    ]


def test_a_grid_without_end_says_what_to_do() -> None:
    with pytest.raises(ConfigError, match=r"parameters.lr: a grid needs every value listed.*method: random"):
        next(SearchSpace.parse({"lr": {"min": 0.0, "max": 1.0}}).grid())


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ([], "empty list of values"),
        ({"min": 1}, "max is None; expected a number"),
        ({"min": 2, "max": 1}, "min 2 is above max 1"),
        ({"min": 0, "max": 1, "log": True}, "must begin above 0"),
        ({"min": "low", "max": 1}, "min is 'low'; expected a number"),
        ({"min": 0, "max": 1, "stepp": 2}, "did you mean 'step'"),
        ({"min": 0.0, "max": 1.0, "step": -1}, "step is -1.0; expected a number above 0"),
        ({"distribution": "gaussian"}, "expected one of constant, categorical"),
        ({"distribution": "log_uniform", "min": 1, "max": 1e5}, "write log_uniform_values"),
        ({"distribution": "log_uniform", "min": 1e-4, "max": 0.1}, "write log_uniform_values"),
        ({"values": "abc"}, "expected a list"),
        ({"values": [1, 2], "probabilities": [1]}, "must be 2 numbers"),
        ({}, "says not what it may be"),
        ({"min": float("nan"), "max": 1}, "expected a number"),
    ],
)
def test_what_is_wrong_with_a_parameter_is_said(raw: Any, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        domain_from(raw, "parameters.lr")
    assert said in str(error.value)
    assert "parameters.lr" in str(error.value)


def test_contains_tells_true_from_one() -> None:
    space = SearchSpace.parse({"bias": [True, False], "depth": {"min": 1, "max": 4}})
    assert space.contains({"bias": True, "depth": 2})
    assert not space.contains({"bias": 1, "depth": 2})
    assert not space.contains({"bias": True, "depth": True})
    assert not space.contains({"bias": True, "depth": 5})
    assert not space.contains({"bias": True})


def test_a_number_that_yaml_took_for_a_text_is_a_number() -> None:
    assert domain_from({"min": "1e-4", "max": "1e-1", "log": True}, "lr") == Range(1e-4, 1e-1, log=True)
    assert domain_from({"min": 3, "max": 3}, "n") == Choice((3,))
