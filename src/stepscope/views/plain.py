"""Any value of a run as JSON that a browser reads unchanged."""

from __future__ import annotations

import math
from typing import Any

MAX_DEPTH = 32
_EXACT = 2**53
"""Beyond this a browser rounds integers."""


def plain(value: Any, depth: int = 0) -> Any:
    """A config value, a medium's meta, a finding's evidence; values that JSON cannot represent become text.

    >>> plain({"lr": 0.1, "seed": 2**60, "loss": float("nan"), 3: (1, b"x")})
    {'lr': 0.1, 'seed': '1152921504606846976', 'loss': 'NaN', '3': [1, "b'x'"]}
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _EXACT else str(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if depth >= MAX_DEPTH:
        return "…"
    if isinstance(value, dict):
        return {str(key): plain(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(inner, depth + 1) for inner in value]
    return str(value)
