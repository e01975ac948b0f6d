"""Facts as they may be read: a file that somebody else has written need not have the shape ours has."""

from __future__ import annotations

import math
from typing import Any

_TABLES = ("device", "cpu", "flags", "environment", "compile", "look", "amp", "convolutions", "machine")
_LISTS = (
    "optimizers", "zero_grads", "loaders", "memory", "calls", "attention_by_hand", "models", "model_loops", "trials",
    "lines",
)  # fmt: skip
_LINE: dict[str, Any] = {"file": str, "line": int, "in": str, "share": int | float, "phase": str, "below": str}
_CALL: dict[str, Any] = {"file": str, "line": int, "op": str, "calls": int | float, "ns": int | float, "fetching": bool}


def well_formed(facts: Any) -> dict[str, Any]:
    """What of it has the kind it should have; the rest is left out, as if it had not been noted.

    >>> well_formed({"cpu": {"cores": 4}, "loaders": [{"trains": 3}, 7], "device": "cuda", "steps": {"wall_ns": "x"}})
    {'cpu': {'cores': 4}, 'loaders': [{'trains': 3}], 'steps': {}}
    """
    if not isinstance(facts, dict):
        return {}
    found: dict[str, Any] = {key: facts[key] for key in _TABLES if isinstance(facts.get(key), dict)}
    for key in _LISTS:
        if isinstance(facts.get(key), list):
            found[key] = [one for one in facts[key] if isinstance(one, dict)]
    if isinstance(facts.get("steps"), dict):
        found["steps"] = {key: value for key, value in facts["steps"].items() if _is_figure(value)}
    if isinstance(facts.get("conv_bias_before_norm"), list):
        found["conv_bias_before_norm"] = [str(one) for one in facts["conv_bias_before_norm"]]
    for key in ("models", "optimizers"):
        found[key] = [one for one in found.get(key, []) if isinstance(one.get("devices", []), list)]
        if not found[key]:
            del found[key]
    if "lines" in found:
        found["lines"] = [one for one in found["lines"] if all(isinstance(one.get(k), t) for k, t in _LINE.items())]
    if "calls" in found:
        found["calls"] = [one for one in found["calls"] if all(isinstance(one.get(k), t) for k, t in _CALL.items())]
    return found


def _is_figure(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and 0 <= value < 1e18
