"""Norms of gradients are measured once, and again where a gradient has changed."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
import torch
from torch import nn

from stepscope.record.observers import gradients
from stepscope.record.observers.gradients import forget, gradient_norms, have_gradients


@pytest.fixture(autouse=True)
def _nothing_known() -> Iterator[None]:
    forget()
    yield
    forget()


def with_gradient(*values: float, dtype: torch.dtype = torch.float32) -> nn.Parameter:
    parameter = nn.Parameter(torch.zeros(len(values), dtype=dtype))
    parameter.grad = torch.tensor(values, dtype=dtype)
    return parameter


def test_measures_again_what_has_changed_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = with_gradient(3.0, 4.0), with_gradient(1.0)
    assert gradient_norms([first, second]) == [5.0, 1.0]
    measured: list[int] = []
    real = gradients.norms_of
    monkeypatch.setattr(gradients, "norms_of", lambda some, *order: measured.append(len(some)) or real(some, *order))
    assert gradient_norms([first, second]) == [5.0, 1.0]
    assert second.grad is not None
    second.grad.mul_(2)
    assert gradient_norms([first, second]) == [5.0, 2.0]
    first.grad = torch.tensor([0.0, math.nan])
    assert math.isnan(gradient_norms([first])[0])
    assert measured == [0, 1, 1]


def test_finds_gradients_whose_squares_are_too_small_to_write_down() -> None:
    tiny, none, nan = with_gradient(*[1e-30] * 5), with_gradient(0.0, 0.0), with_gradient(math.nan)
    assert have_gradients([tiny, none, nan]) == [True, False, True]
    assert have_gradients([with_gradient(1e-7, dtype=torch.float16), with_gradient()]) == [True, False]
