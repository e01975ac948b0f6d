"""The step a value belongs to: given, or inferred.

Without an explicit step, it is the current one, or the next if one of the names was already logged at the current
one. So two `log` calls in one iteration share a step, and an epoch's metrics belong to the last training step.
"""

from __future__ import annotations

import operator
from typing import Any

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1


class StepRefused(ValueError):
    """A step that is not an integer within 64 bits."""


def as_step(step: Any) -> int:
    """A step as an int: accepts ints, numpy integers, whole floats and one-element tensors."""
    number = _whole(step)
    if not INT64_MIN <= number <= INT64_MAX:
        raise StepRefused(f"step {number} does not fit in 64 bits; use a step between -2**63 and 2**63 - 1")
    return number


def _whole(step: Any) -> int:
    try:
        return operator.index(step)
    except TypeError:
        pass
    if isinstance(step, str | bytes | complex):
        raise StepRefused(f"step {step!r} is a {type(step).__name__}; expected a whole number")
    try:
        number = float(step)
        whole = int(number)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise StepRefused(f"step {_short(step)} is not a whole number ({error})") from None
    if whole != number:
        raise StepRefused(f"step {number!r} is not a whole number; log it as a value and use it as the x-axis instead")
    return whole


def _short(value: Any) -> str:
    text = f"{type(value).__name__} {value!r}"
    return text if len(text) <= 80 else text[:77] + "..."
