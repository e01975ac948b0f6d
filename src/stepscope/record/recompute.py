"""What an op must have returned, worked out again from what its autograd node kept of its inputs.

Many nodes keep inputs but no result (`log`, `/`, `*`, matrix products). Only for an autopsy, so cost does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_UNARY = {
    f"{name}Backward0": getattr(torch, name.lower())
    for name in ("Log", "Log2", "Log10", "Log1p", "Acos", "Asin", "Acosh", "Atanh", "Lgamma", "Digamma", "Logit", "Tan")
}


def _product(kept: dict[str, Any]) -> Any:
    a, b = kept.get("self", kept.get("mat1")), kept.get("other", kept.get("mat2"))
    return None if a is None or b is None else (a, b)


def _div(node: Any, kept: dict[str, Any]) -> Any:
    """By the divisor alone where the dividend was not kept: a zero in it is enough."""
    other = kept.get("other")
    return None if other is None else kept.get("self", torch.ones_like(other)) / other


def _mul(node: Any, kept: dict[str, Any]) -> Any:
    pair = _product(kept)
    return None if pair is None else pair[0] * pair[1]


def _matmul(node: Any, kept: dict[str, Any]) -> Any:
    pair = _product(kept)
    return None if pair is None else pair[0] @ pair[1]


def _pow(node: Any, kept: dict[str, Any]) -> Any:
    exponent = kept.get("exponent", getattr(node, "_saved_exponent", None))
    return None if exponent is None or "self" not in kept else kept["self"] ** exponent


_RULES: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "DivBackward0": _div,
    "MulBackward0": _mul,
    "MmBackward0": _matmul,
    "BmmBackward0": _matmul,
    "AddmmBackward0": _matmul,
    "PowBackward0": _pow,
    "PowBackward1": _pow,
}


def recomputed(node: Any, kept: dict[str, Any]) -> Any:
    """The result as a tensor, or None where it cannot be told."""
    name = node.name()
    try:
        if name in _UNARY:
            return _UNARY[name](kept["self"]) if "self" in kept else None
        rule = _RULES.get(name)
        return None if rule is None else rule(node, kept)
    except RuntimeError:  # shapes that do not fit: the op was called with something we do not know of
        return None
