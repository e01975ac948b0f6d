"""Values that lie on a device: whether they may be read now, and a copy of them here.

Reading waits for the device, so it is for the first steps. Each observer says how often it looks, and all of them
together have so many reads and then a few in each window of close looking: no training waits at every step. What is
read is copied to the CPU and compared there, so nothing new lies on the device (of a view with gaps, a small copy for a
moment) and nothing of it is kept alive.
"""

from __future__ import annotations

from typing import Any

import torch

from stepscope.common import clocks
from stepscope.events.aside import is_capturing
from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.record.statistics import is_transformed

_FAR = {"cuda", "mps", "xpu"}
_READS, _A_WINDOW = 6000, 200
_SMALL = 2**12
_UNIT = 2**16
"""So many values are as much as another read."""


class Patience:
    """How much has been read from devices in this run, and how long that has waited for them."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """A new run."""
        self.reads = 0
        self.waited_s = 0.0
        """The device works on meanwhile, so no allowance has to pay for it."""
        self.lost = False
        """The device has been given something it stops for."""
        self.windows = 0
        """How often looking closely has begun."""

    def refill(self) -> None:
        """Looking closely begins (again)."""
        self.windows += 1

    def left(self) -> bool:
        return not self.lost and self.reads < _READS + _A_WINDOW * self.windows


patience = Patience()


def is_far(tensor: Any) -> bool:
    """Whether it lies on a device whose values have to be fetched."""
    return tensor.device.type in _FAR


def is_small(tensor: Any) -> bool:
    """Whether it has so few plain values, here, that a copy of them together with others is cheap."""
    return (
        0 < tensor.numel() <= _SMALL
        and tensor.device.type == "cpu"
        and tensor.layout is torch.strided
        and not is_transformed(tensor)
    )


def can_fetch(tensor: Any) -> bool:
    """Whether `here(tensor)` may be asked for now: at all times on a CPU, never of what has no values (meta).

    Not while a CUDA graph is captured, which a read would break, nor where the script forbids waiting for the device.
    """
    kind = tensor.device.type
    if kind not in _FAR:
        return bool(kind == "cpu")
    return patience.left() and not is_held(kind) and torch._C._get_tracing_state() is None


def is_held(kind: str) -> bool:
    """Whether this kind of device must not be waited for now."""
    return kind == "cuda" and (is_capturing() or torch.cuda.get_sync_debug_mode() != 0)


def here(tensor: Any) -> Any:
    """The tensor without its history: itself on a CPU, a copy on the CPU otherwise.

    >>> here(torch.ones(2, requires_grad=True))
    tensor([1., 1.])
    """
    if not is_far(tensor):
        return raw.detach(tensor)
    with quietly():
        _wait(tensor.device)
        patience.reads += 1 + int(tensor.numel()) // _UNIT
        return _copied(raw.detach(tensor))


def together(tensors: list[Any]) -> list[Any]:
    """`here` of many small tensors, one read for each device and type: 1-D copies of their values, in order."""
    found: list[Any] = [None] * len(tensors)
    groups: dict[Any, list[int]] = {}
    with quietly():
        for number, tensor in enumerate(tensors):
            if is_far(tensor):
                groups.setdefault((tensor.device, tensor.dtype), []).append(number)
            else:
                found[number] = raw.detach(tensor).reshape(-1)
        for numbers in groups.values():
            flat = [raw.detach(tensors[number]).reshape(-1) for number in numbers]
            parts = here(raw.cat(flat)).split([one.numel() for one in flat])
            for number, part in zip(numbers, parts, strict=True):
                found[number] = part
    return found


def norms_of(tensors: list[Any], order: float = 2.0) -> list[float]:
    """The norms of plain floating tensors; for each device and type one call measures all of them, and one reads.

    >>> norms_of([torch.tensor([3.0, 4.0]), torch.zeros(2)])
    [5.0, 0.0]
    """
    found = [0.0] * len(tensors)
    groups: dict[Any, list[int]] = {}
    with quietly():
        for number, tensor in enumerate(tensors):
            groups.setdefault((tensor.device, tensor.dtype), []).append(number)
        for numbers in groups.values():
            some = [tensors[number] for number in numbers]
            if some[0].element_size() < 4:  # squares overflow a half
                norms = [torch.linalg.vector_norm(one, order, dtype=torch.float32) for one in some]
            else:
                norms = raw._foreach_norm(some, order)
            for number, norm in zip(numbers, raw.tolist(here(raw.stack(list(norms)))), strict=True):
                found[number] = norm
    return found


def _wait(device: Any) -> None:
    if device.type == "cuda":
        began = clocks.perf_counter()
        torch.cuda.current_stream(device).synchronize()
        patience.waited_s += clocks.perf_counter() - began


def _copied(tensor: Any) -> Any:
    """Where the values lie close together the memory is copied as it lies: a copy in order would need space there."""
    span = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    if not tensor.numel() or span > 2 * tensor.numel() or tensor.is_neg() or tensor.is_conj():
        return raw.to(tensor, "cpu", copy=True)
    flat = tensor.as_strided((span,), (1,), tensor.storage_offset())
    return raw.to(flat, "cpu", copy=True).as_strided(tensor.shape, tensor.stride(), 0)
