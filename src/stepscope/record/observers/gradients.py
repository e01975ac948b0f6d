"""The norms of gradients, measured once after a backward for all who ask."""

from __future__ import annotations

import math
from typing import Any

from stepscope.record.observers.fetch import norms_of
from stepscope.record.observers.nonzero import can_read, is_nonzero

_known: dict[int, tuple[int, int, float]] = {}
"""By the id of a parameter: the id of its gradient, its version, its norm."""


def forget() -> None:
    """A backward has run: gradients are new."""
    _known.clear()


def gradient_norms(parameters: list[Any]) -> list[float]:
    """The norms of their gradients, which have to be plain and floating. One that has changed is measured again."""
    gradients = [one.grad for one in parameters]
    found = [_remembered(one, gradient) for one, gradient in zip(parameters, gradients, strict=True)]
    new = [number for number, norm in enumerate(found) if norm is None]
    for number, norm in zip(new, norms_of([gradients[number] for number in new]), strict=True):
        found[number] = norm
        if not gradients[number].is_inference():
            _known[id(parameters[number])] = id(gradients[number]), gradients[number]._version, norm
    return [0.0 if norm is None else norm for norm in found]


def _remembered(parameter: Any, gradient: Any) -> float | None:
    known = _known.get(id(parameter))
    if known is None or known[0] != id(gradient) or gradient.is_inference() or known[1] != gradient._version:
        return None
    return known[2]


def have_gradients(parameters: list[Any]) -> list[bool]:
    """Whether their gradients hold anything but zeros; what cannot be looked at now counts as something."""
    gradients = [one.grad for one in parameters]
    plain = [i for i, one in enumerate(gradients) if can_read(one) and one.is_floating_point() and one.numel()]
    found = dict(zip(plain, gradient_norms([parameters[i] for i in plain]), strict=True))
    small = [i for i, norm in found.items() if norm == 0]  # squares may be too small for a number
    found.update(zip(small, norms_of([gradients[i] for i in small], math.inf), strict=True))
    return [found[i] != 0 if i in found else is_nonzero(one) for i, one in enumerate(gradients)]
