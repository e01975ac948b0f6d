"""Whether gradients hold anything but zeros."""

from __future__ import annotations

import math
from typing import Any

import torch

from stepscope.events.unpatched_torch import raw
from stepscope.record.observers.fetch import can_fetch, here, is_far, norms_of
from stepscope.record.statistics import is_transformed


def is_nonzero(gradient: Any) -> bool:
    """Whether it holds anything but zeros; what cannot be looked at now counts as something."""
    if not can_read(gradient):
        return True
    if is_far(gradient):  # one number, and no memory for a mask of it
        return float(raw.item(here(torch.linalg.vector_norm(raw.detach(gradient), math.inf)))) != 0
    return bool(raw.item(raw.detach(gradient).ne(0).any()))


def are_nonzero(gradients: list[Any]) -> list[bool]:
    """`is_nonzero` of each, with one read for all that lie on one device."""
    plain = [i for i, one in enumerate(gradients) if can_read(one) and one.is_floating_point() and one.numel()]
    largest = norms_of([gradients[i] for i in plain], math.inf)
    known = {i: norm != 0 for i, norm in zip(plain, largest, strict=True)}
    return [known[i] if i in known else is_nonzero(one) for i, one in enumerate(gradients)]


def can_read(gradient: Any) -> bool:
    """Whether it has plain values that may be looked at now."""
    return not is_transformed(gradient) and gradient.layout is torch.strided and can_fetch(gradient)
