"""Run something again without its leaving a trace: random numbers, gradients and buffers are put back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from stepscope.record import random_state


@contextmanager
def rewound(model: Any = None) -> Iterator[None]:
    """Put back at the end what a repeated forward and backward changes."""
    numbers = random_state.taken()
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
        random_state.put_back(numbers)
