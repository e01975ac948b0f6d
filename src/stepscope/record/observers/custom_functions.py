"""Compares the `backward` of each `autograd.Function` with finite differences, once, in a fork.

Left alone: what is an identity in the forward pass (gradient reversal, clipping), what is flat there (rounding with a
straight-through gradient, spikes), and what gives two answers to one input. There the gradient is meant to differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.custom_functions import CustomFunction, CustomFunctions
from stepscope.record.identity import is_tensor_type
from stepscope.record.observers.fork_probe import can_fork, in_a_fork
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import is_own, own_place
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.events import Installed
    from stepscope.record.observers.watcher import Watcher

_SECONDS = 3.0
_LARGEST = 2**18
_STEP = 1e-4
_DIRECTIONS = 6
_OFF = 0.05


class CustomFunctionObserver(Observer, CustomFunctions):
    def __init__(self, watcher: Watcher) -> None:
        CustomFunctions.__init__(self)
        super().__init__(watcher)
        self._tried: set[type] = set()

    def install(self, installed: Installed) -> None:
        installed.after("torch.autograd:Function.apply", "following a custom function", self._applied)

    def _applied(self, frame: Any, result: Any, kind: Any, *args: Any, **kwargs: Any) -> None:
        if kind in self._tried or kwargs or not torch.is_grad_enabled() or not self.watcher.listens():
            return
        code = getattr(getattr(kind, "backward", None), "__code__", None)
        if code is None or not is_own(code) or type(result) is not torch.Tensor or not _is_fit((*args, result)):
            return
        self._tried.add(kind)
        if not can_fork():
            return
        with quietly():
            found = in_a_fork(lambda: compared(kind, args), _SECONDS)
        if found:
            site = Site(file=code.co_filename, line=code.co_firstlineno, function=code.co_name)
            self.wrong.append(CustomFunction(kind.__name__, site, own_place(frame), **found))


def _is_fit(values: tuple[Any, ...]) -> bool:
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    return any(one.requires_grad for one in tensors) and all(
        is_tensor_type(type(one)) and one.device.type == "cpu" and 0 < one.numel() <= _LARGEST for one in tensors
    )


def compared(kind: Any, args: tuple[Any, ...]) -> dict[str, Any]:
    """How the gradient of a function differs from its slope; empty where it does not, or is meant to."""
    torch.manual_seed(0)
    learned = [n for n, value in enumerate(args) if isinstance(value, torch.Tensor) and value.requires_grad]
    wide = [raw.to(raw.detach(v), torch.float64) if _is_real(v) else v for v in args]
    with torch.no_grad():
        first, again = (kind.apply(*wide) for _ in range(2))
        if not raw.equal(first, again) or any(first.shape == wide[n].shape and _near(first, wide[n]) for n in learned):
            return {}
    weights = torch.randn(first.shape, dtype=torch.float64)
    worst: dict[str, Any] = {}
    for number in learned:
        gradient, double = (_gradient(kind, wide, number, scale * weights) for scale in (1, 2))
        if gradient is None or double is None:
            continue
        pairs = [pair for _ in range(_DIRECTIONS) if (pair := _along(kind, wide, number, weights, gradient))]
        off = [pair for pair in pairs if abs(pair[0] - pair[1]) > _OFF * max(abs(pair[0]), abs(pair[1]))]
        if len(pairs) >= _DIRECTIONS // 2 and len(off) > len(pairs) // 2 and not worst:
            slope, found = max(off, key=lambda pair: abs(pair[0] - pair[1]))
            same = raw.equal(gradient, double) and bool(raw.item(gradient.any()))
            worst = {"argument": number, "slope": slope, "gradient": found, "ignores_output_gradient": same}
    return worst


def _is_real(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _near(one: Any, other: Any) -> bool:
    return bool(raw.item(((one - other).abs() <= 1e-9).all()))


def _gradient(kind: Any, values: list[Any], number: int, weights: Any) -> Any:
    with torch.enable_grad():
        leaf = raw.clone(values[number]).requires_grad_()
        result = kind.apply(*values[:number], leaf, *values[number + 1 :])
        return torch.autograd.grad(result, leaf, weights, allow_unused=True)[0]


def _along(kind: Any, values: list[Any], number: int, weights: Any, gradient: Any) -> tuple[float, float] | None:
    """The slope along a random direction, by differences and by the gradient; None where it is flat or has a kink."""
    way = torch.randn(values[number].shape, dtype=torch.float64)

    def slope(step: float) -> float:
        with torch.no_grad():
            ahead, behind = (
                kind.apply(*values[:number], values[number] + sign * step * way, *values[number + 1 :])
                for sign in (1, -1)
            )
        return float(raw.item(((ahead - behind) * weights).sum())) / (2 * step)

    near, nearer = slope(_STEP), slope(_STEP / 4)
    size = max(abs(near), abs(nearer))
    if size < 1e-9 or abs(near - nearer) > 0.01 * size:
        return None
    return nearer, float(raw.item((gradient * way).sum()))
