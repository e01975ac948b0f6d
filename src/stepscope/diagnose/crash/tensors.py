"""How a tensor is shown: shape, dtype, device, range and whether it wants a gradient, never its values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stepscope.evidence.frame_values import HeldItems, HeldTensor

_DEPTH = 2
_MOST = 12
_PLAIN = ("list", "tuple", "dict")


@dataclass(frozen=True)
class Shown:
    """A tensor in words."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    device: str
    range: str = ""
    grad: bool = False

    def __str__(self) -> str:
        parts = [f"{self.dtype} {list(self.shape)}", self.device]
        if self.range:
            parts.append(self.range)
        if self.grad:
            parts.append("requires grad")
        return ", ".join(parts)


def show(name: str, tensor: HeldTensor) -> Shown:
    """Describe a tensor; of one that is gone only what the trail kept."""
    found = tensor.extremes
    text = "" if found is None else f"{_number(found[0])} to {_number(found[1])}"
    grad = tensor.requires_grad and not tensor.gone
    return Shown(name=name, shape=tensor.shape, dtype=tensor.dtype, device=tensor.device, range=text, grad=grad)


def _number(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else str(value)


def named_tensors(names: dict[str, Any], most: int = _MOST) -> list[tuple[str, HeldTensor]]:
    """The tensors among a frame's variables, looking a little way into lists, tuples and dictionaries."""
    found: list[tuple[str, HeldTensor]] = []
    for name, value in list(names.items())[:2000]:
        for path, tensor in _inside(name, value, 0):
            found.append((path, tensor))
            if len(found) >= most:
                return found
    return found


def _inside(path: str, value: Any, depth: int) -> Iterator[tuple[str, HeldTensor]]:
    if isinstance(value, HeldTensor):
        yield path, value
    elif depth < _DEPTH and isinstance(value, HeldItems) and value.type in _PLAIN:
        keys = range(len(value.items)) if value.keys is None else value.keys
        for key, part in list(zip(keys, value.items, strict=True))[:4]:
            yield from _inside(f"{path}[{key!r}]", part, depth + 1)
