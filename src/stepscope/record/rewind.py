"""Run something again without its leaving a trace: random numbers, gradients and buffers are put back."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

__all__ = ["rewound"]


@contextmanager
def rewound(model: Any = None) -> Iterator[None]:
    """Put back at the end what a repeated forward and backward changes."""
    numbers = _random_numbers()
    parameters = [] if model is None else [(p, p.grad) for p in model.parameters()]
    buffers = [] if model is None else [(b, b.detach().clone()) for b in model.buffers()]
    for parameter, _ in parameters:
        parameter.grad = None  # backward would add to the user's gradient in place
    try:
        yield
    finally:
        for parameter, gradient in parameters:
            parameter.grad = gradient
        with torch.no_grad():
            for buffer, values in buffers:
                if not torch.equal(buffer, values):
                    buffer.copy_(values)
        _put_back(numbers)


def _random_numbers() -> dict[str, Any]:
    state: dict[str, Any] = {"python": random.getstate(), "torch": torch.get_rng_state()}
    if "numpy" in sys.modules:
        state["numpy"] = sys.modules["numpy"].random.get_state()
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        state["cuda"] = torch.cuda.get_rng_state_all()
    return state


def _put_back(state: dict[str, Any]) -> None:
    random.setstate(state["python"])
    torch.set_rng_state(state["torch"])
    if "numpy" in state:
        sys.modules["numpy"].random.set_state(state["numpy"])
    if "cuda" in state:
        torch.cuda.set_rng_state_all(state["cuda"])
