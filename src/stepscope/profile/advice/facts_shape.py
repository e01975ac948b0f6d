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
    tables = {key: facts[key] for key in _TABLES if isinstance(facts.get(key), dict)}
    found: dict[str, Any] = {**tables, **_lists(facts)}
    if isinstance(facts.get("steps"), dict):
        found["steps"] = {key: value for key, value in facts["steps"].items() if _is_figure(value)}
    if isinstance(facts.get("conv_bias_before_norm"), list):
        found["conv_bias_before_norm"] = [str(one) for one in facts["conv_bias_before_norm"]]
    return found


def _lists(facts: dict[str, Any]) -> dict[str, list[Any]]:
    given = {key: facts[key] for key in _LISTS if isinstance(facts.get(key), list)}
    found = {key: [one for one in listed if isinstance(one, dict)] for key, listed in given.items()}
    for key, fields in (("lines", _LINE), ("calls", _CALL)):
        if key in found:
            found[key] = [one for one in found[key] if _has(one, fields)]
    for key in ("models", "optimizers"):
        kept = [one for one in found.pop(key, []) if isinstance(one.get("devices", []), list)]
        if kept:
            found[key] = kept
    return found


def _has(one: dict[str, Any], fields: dict[str, Any]) -> bool:
    return all(isinstance(one.get(name), kind) for name, kind in fields.items())


def _is_figure(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and 0 <= value < 1e18
