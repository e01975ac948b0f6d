"""Looks at weights when a model is first called, and at which line had filled them."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, ClassVar

import torch

from stepscope.common.ops import CONSTANTS, DEVICE_MOVES, FLOAT_CASTS, INITIALIZERS
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.weight_init import Filling, InitialWeight, WeightInit
from stepscope.record.observers.fetch import can_fetch, here, is_far, is_small
from stepscope.record.observers.module_records import live
from stepscope.record.observers.module_walk import parts_of
from stepscope.record.observers.observer import Observer
from stepscope.record.statistics import is_transformed

if TYPE_CHECKING:
    from stepscope.evidence.steps import Backward
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher

_FACTORIES = CONSTANTS | {"randn", "rand", "mul", "div"}
_CONVERSIONS = DEVICE_MOVES | FLOAT_CASTS
_MOST = 20_000
_MOST_FAR, _SAMPLE_FAR = 500, 2**16
_LARGEST = 2**24


class WeightInitObserver(Observer, WeightInit):
    ops: ClassVar[frozenset[str]] = INITIALIZERS | _FACTORIES | _CONVERSIONS

    def __init__(self, watcher: Watcher) -> None:
        WeightInit.__init__(self)
        super().__init__(watcher)
        self._filled: dict[int, Filling] = {}
        self._seen: weakref.WeakSet[Any] = weakref.WeakSet()
        self._known: dict[int, Any] = {}
        self._optimizers = 0

    def op(self, call: Call) -> None:
        if call.visit is not None or len(self._filled) > _MOST:
            return  # a model being built runs in no forward pass
        if self.watcher.steps.backward_count and call.name in ("mul", "div"):
            return  # most likely the loss
        if call.name in _CONVERSIONS:
            self._moved(call)
            return
        filled = (
            call.inputs[0] if call.name in INITIALIZERS and call.inputs else call.outputs[0] if call.outputs else None
        )
        plain = type(filled) in (torch.Tensor, torch.nn.Parameter) and not is_transformed(filled)
        if filled is not None and plain and filled.layout is torch.strided and filled.numel() > 1:
            given = [value for value in (*call.args, *call.kwargs.values()) if isinstance(value, (int, float))]
            self._filled[filled.data_ptr()] = Filling(call.name, call.place, given)

    def _moved(self, call: Call) -> None:
        """`model.to(device)`: the same values in another piece of memory."""
        made = call.outputs[0] if call.outputs and call.inputs and type(call.inputs[0]) is torch.nn.Parameter else None
        if made is None or is_transformed(made) or made.layout is not torch.strided or call.inputs[0].is_meta:
            return
        known = self._filled.get(call.inputs[0].data_ptr())
        if known is not None:
            self._filled[made.data_ptr()] = known
        else:
            self._filled.pop(made.data_ptr(), None)

    def root_begins(self, visit: Visit, module: Any, args: Any, kwargs: Any) -> None:
        if module in self._seen:
            return
        self._seen.add(module)
        new: list[tuple[InitialWeight, Any]] = []
        for path, part in parts_of(module):
            for name, parameter in part._parameters.items():
                if parameter is not None:
                    new += self._note(f"{path}.{name}" if path else name, parameter, part)
        _describe_all(new)

    def backward(self, backward: Backward, roots: list[Any]) -> None:
        """New optimizers may have parameters that no model had when it was first called (adapters, free tensors)."""
        models = self.watcher.models
        new = [p for made in self.watcher.optimizers.made[self._optimizers :] for p in made.alive()]
        unknown = [one for one in new if not self._knows(one) and _is_weight(one)]
        if unknown:
            owners = models.holders()
            for parameter in unknown:
                if not self._knows(parameter):
                    part, path = owners.get(id(parameter), (None, ""))
                    names = [] if part is None else [n for n, p in part._parameters.items() if p is parameter]
                    name = ".".join(filter(None, (path, *names[:1]))) or models.name_of(parameter)
                    _describe_all(self._note(name, parameter, part))
        self._optimizers = len(self.watcher.optimizers.made)

    def _knows(self, parameter: Any) -> bool:
        known = self._known.get(id(parameter))
        return known is not None and known() is parameter

    def _note(self, name: str, parameter: Any, owner: Any) -> list[tuple[InitialWeight, Any]]:
        """What is new, to be described."""
        if is_far(parameter) and len(self.weights) >= _MOST_FAR:
            return []
        if _is_weight(parameter) and not self._knows(parameter):
            self._known[id(parameter)] = weakref.ref(parameter)
            filling = self._filled.get(parameter.data_ptr())
            nets = self.watcher.module_records
            start = InitialWeight(name, nets.parameter(parameter), None if owner is None else nets.of(owner), filling)
            start.step = self.watcher.step
            self.weights.append(start)
            return [(start, parameter)]
        return []

    def settle(self) -> None:
        for start in self.weights:
            weight = None if start.constant is None else live(start.parameter)
            if weight is not None and weight.grad is not None and can_fetch(weight):
                _look_again(start, weight)


def _describe_all(new: list[tuple[InitialWeight, Any]]) -> None:
    """Small weights of one type and size together: a few operations for all of them."""
    groups: dict[Any, list[tuple[InitialWeight, Any]]] = {}
    for start, parameter in new:
        if is_small(parameter) and parameter.element_size() >= 4:
            groups.setdefault((parameter.dtype, parameter.numel()), []).append((start, raw.detach(parameter)))
        else:
            _describe(start, parameter)
    for some in groups.values():
        rows = raw.stack([values.reshape(-1) for _, values in some])
        lows, highs = map(raw.tolist, raw.aminmax(rows, dim=1))
        spread, means = (raw.tolist(one) for one in torch.std_mean(raw.float(rows), 1))
        for number, (start, _) in enumerate(some):
            start.constant = lows[number] if lows[number] == highs[number] else None
            start.mean, start.std = means[number], spread[number]


def _describe(start: InitialWeight, parameter: Any) -> None:
    flat = raw.detach(parameter).reshape(-1)
    if is_far(flat):
        low, high = raw.tolist(here(raw.stack(raw.aminmax(flat))))
        start.constant = low if low == high else None
        flat = here(flat[:: max(1, flat.numel() // _SAMPLE_FAR)])
    elif bool(raw.item((flat == flat[0]).all())):
        start.constant = float(flat[0])
    start.mean = float(raw.item(raw.float(flat).mean()))
    start.std = float(raw.item(raw.float(flat).std()))


def _look_again(start: InitialWeight, weight: Any) -> None:
    """Whether a weight that began with one value has parted from it, and whether its gradient lets it."""
    values, gradient = raw.detach(weight), raw.detach(weight.grad)
    if gradient.layout is not torch.strided:
        return
    start.is_zero = not bool(raw.item(values.any()))
    start.gradient_is_zero = not bool(raw.item(gradient.any()))
    rows = values.reshape(weight.shape[0], -1)
    start.has_moved = bool(raw.item((rows != start.constant).any()))
    start.rows_are_alike = bool(raw.equal(rows, rows[:1].expand_as(rows)))
    slopes = gradient.reshape(weight.shape[0], -1)
    same = start.rows_are_alike and raw.allclose(slopes, slopes[:1].expand_as(slopes), rtol=1e-4, atol=0)
    start.gradient_is_alike |= not start.gradient_is_zero and bool(same)


def _is_weight(parameter: Any) -> bool:
    return (
        type(parameter) in (torch.nn.Parameter, torch.Tensor)
        and not is_transformed(parameter)
        and parameter.dim() >= 2
        and parameter.is_floating_point()
        and parameter.layout is torch.strided
        and 1 < parameter.numel() <= _LARGEST
        and can_fetch(parameter)
    )
