"""How a tensor is shown: shape, dtype, device, range and whether it wants a gradient, never its values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from stepscope import fence
from stepscope.events.quiet import quietly

__all__ = ["Shown", "extremes", "named_tensors", "short", "show"]

_COUNTED = 4_000_000  # elements; the range of a larger tensor is left out, it would take noticeable time
_DEPTH = 2
_MOST = 12


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


def short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


@fence.fenced("reading a tensor's range")
def extremes(tensor: torch.Tensor) -> tuple[float, float] | None:
    """Smallest and largest value; None for what is large, empty, or on a device that may be broken by now."""
    if tensor.device.type != "cpu" or not 0 < tensor.numel() <= _COUNTED or tensor.layout != torch.strided:
        return None
    if tensor.is_quantized or tensor.is_complex() or type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        return None
    with quietly():
        plain = tensor.detach()
        low, high = (plain.to(torch.uint8) if plain.dtype == torch.bool else plain).aminmax()
        return low.item(), high.item()


def show(name: str, tensor: torch.Tensor) -> Shown:
    """Describe a tensor; no more is asked of it than its header and, on a CPU, its range."""
    found = extremes(tensor)
    text = "" if found is None else f"{_number(found[0])} to {_number(found[1])}"
    return Shown(
        name=name,
        shape=tuple(int(n) for n in tensor.shape),
        dtype=short(tensor.dtype),
        device=str(tensor.device),
        range=text,
        grad=bool(tensor.requires_grad),
    )


def _number(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else str(value)


def named_tensors(names: dict[str, Any], most: int = _MOST) -> list[tuple[str, torch.Tensor]]:
    """The tensors among a frame's variables, looking a little way into lists, tuples and dictionaries."""
    found: list[tuple[str, torch.Tensor]] = []
    for name, value in list(names.items())[:2000]:
        if name.startswith("__"):
            continue
        for path, tensor in _inside(name, value, 0):
            found.append((path, tensor))
            if len(found) >= most:
                return found
    return found


def _inside(path: str, value: Any, depth: int) -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        yield path, value
    elif depth < _DEPTH and type(value) in (list, tuple):
        for index, part in enumerate(value[:4]):
            yield from _inside(f"{path}[{index}]", part, depth + 1)
    elif depth < _DEPTH and type(value) is dict:
        for key, part in list(value.items())[:4]:
            if isinstance(key, (str, int)):
                yield from _inside(f"{path}[{key!r}]", part, depth + 1)
