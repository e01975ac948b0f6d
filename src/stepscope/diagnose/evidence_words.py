"""The evidence of a finding in a few words: `grad norm 1.9 -> 3.8 -> 5.8`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from stepscope.plain_text import clean

MAX_WORDS = 240
SERIES_SHOWN = 6
_SHAPES = ("shape", "shapes", "size", "sizes", "dims", "kernel", "stride", "padding")


def evidence_words(evidence: Mapping[str, Any]) -> str:
    """What proves a finding, on one line.

    >>> evidence_words({"grad_norm": [1.9012, 3.8, 5.8], "steps": 3})
    'grad norm 1.9 -> 3.8 -> 5.8, steps 3'
    >>> evidence_words({"input_shape": [64, 3136], "dtypes": ["float32", "int64"], "loss": float("nan")})
    'input shape (64, 3136), dtypes float32, int64, loss NaN'
    """
    parts = [f"{_name(key)} {words}" for key, value in evidence.items() if (words := _words(key, value))]
    text = ", ".join(parts)
    return text if len(text) <= MAX_WORDS else text[: MAX_WORDS - 1].rstrip(" ,") + "…"


def _name(key: str) -> str:
    return clean(str(key)).replace("_", " ")


def _words(key: str, value: Any) -> str:
    if value is None or value == "" or value == [] or value == {}:
        return ""
    if isinstance(value, Mapping):
        inner = [f"{_name(name)} {words}" for name, one in value.items() if (words := _words(name, one))]
        return f"({', '.join(inner)})"
    if isinstance(value, (list, tuple)):
        return _listed(key, value)
    return _plain(value)


def _listed(key: str, values: Sequence[Any]) -> str:
    if all(isinstance(one, (list, tuple)) for one in values):
        return ", ".join(_listed("shape", one) for one in values)
    numbers = all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in values)
    if numbers and not key.replace(" ", "_").lower().split("_")[-1].endswith(_SHAPES):
        return " -> ".join(_shortened([_plain(one) for one in values]))
    words = [_words("", one) for one in values]
    return f"({', '.join(words)})" if numbers else ", ".join(_shortened(words))


def _shortened(words: list[str]) -> list[str]:
    return words if len(words) <= SERIES_SHOWN else [*words[: SERIES_SHOWN - 2], "...", words[-1]]


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Inf" if value > 0 else "-Inf"
        return str(int(value)) if value.is_integer() and abs(value) < 10**6 else f"{value:.3g}"
    return clean(str(value))
