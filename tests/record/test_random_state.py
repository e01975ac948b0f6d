"""States of random number generators are those the generators have, whatever was drawn in between."""

from __future__ import annotations

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
