"""States of random number generators are those the generators have, whatever was drawn in between."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from stepscope.record import random_state

DRAWS: list[Callable[[], Any]] = [
    lambda: None,
    lambda: np.random.rand(3),
    lambda: np.random.randn(),  # leaves a second normal number waiting
    lambda: np.random.randn(),  # takes it, and nothing else
    lambda: None,
    lambda: np.random.randint(10),
    lambda: np.random.seed(4),
    lambda: np.random.shuffle([1, 2, 3]),
]


def same(one: Any, other: Any) -> bool:
    return bool(one[0] == other[0] and np.array_equal(one[1], other[1]) and one[2:] == other[2:])


def test_numpys_state_is_never_an_old_one() -> None:
    np.random.seed(1)
    for draw in DRAWS * 3:
        draw()
        assert same(random_state.taken()["numpy"], np.random.get_state())


@pytest.mark.parametrize("draw", DRAWS)
def test_putting_back_repeats_what_was_drawn(draw: Callable[[], Any]) -> None:
    draw()
    state = random_state.taken()
    first = (np.random.randn(3).tolist(), torch.rand(3).tolist())
    random_state.put_back(state)
    assert (np.random.randn(3).tolist(), torch.rand(3).tolist()) == first


def test_asking_for_the_states_imports_no_generator_that_the_script_does_not_use() -> None:
    asked = """
import sys, torch
from stepscope.record import random_state
there = "numpy.random" in sys.modules  # older numpy imports it with the rest
state = random_state.taken()
assert ("numpy.random" in sys.modules) == there == ("numpy" in state)
random_state.put_back(state)
import numpy.random
state = random_state.taken()
drawn = numpy.random.rand()
random_state.put_back(state)
assert numpy.random.rand() == drawn
"""
    subprocess.run([sys.executable, "-c", asked], check=True)
