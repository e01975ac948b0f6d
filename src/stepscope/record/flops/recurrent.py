"""Recurrent layers: each weight matrix is applied once per time step. The gates' arithmetic is left out."""

from __future__ import annotations

import math
from typing import Any

from stepscope.record.flops.registry import Called, Work, formula

__all__: list[str] = []


def _steps(weights: Any, tokens: int, x: Any) -> Work:
    matrices = [weight for weight in weights if getattr(weight, "ndim", 0) == 2]
    macs = tokens * sum(weight.numel() for weight in matrices)
    if not any(weight.requires_grad for weight in matrices) and not x.requires_grad:
        return Work(2 * macs, macs, 0)
    # Both gradients of every product, but for that of the data itself, which nobody asks for in a first layer.
    first = sum(w.numel() for w in matrices if w.shape[1] == x.shape[-1]) if not x.requires_grad else 0
    return Work(2 * macs, macs, 2 * (2 * macs - tokens * min(first, sum(w.numel() for w in matrices[:1]))))


@formula("lstm", "gru", "rnn_tanh", "rnn_relu")
def layers(called: Called) -> Work:
    """`(input, hx, weights, ...)`, or `(data, batch_sizes, hx, weights, ...)` for a packed sequence.

    All layers and directions, and an LSTM's projection, have their matrices in `weights`.
    """
    x = called.args[0]
    packed = isinstance(called.args[3], (list, tuple))
    weights = called.args[3] if packed else called.args[2]
    return _steps(weights, math.prod(x.shape[:-1]), x)


@formula("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell")
def cell(called: Called) -> Work:
    """`(input, hx, w_ih, w_hh, ...)`: one time step."""
    x = called.args[0]
    return _steps(called.args[2:4], math.prod(x.shape[:-1]), x)
