"""Follows every call of a loss function, and looks at the values of the first calls at each place."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import torch

from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.losses import LOSSES, Look, LossCall, Losses, class_axis
from stepscope.record.arguments import tensors_in
from stepscope.record.observers.fetch import can_fetch, here, is_far
from stepscope.record.observers.observer import Observer
from stepscope.record.statistics import is_transformed

if TYPE_CHECKING:
    from stepscope.evidence.loaders import Loader
    from stepscope.evidence.origins import Origin
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

_CLASSES_IN_ROWS = frozenset({"cross_entropy", "nll_loss", "kl_div", "ctc_loss"})
_LOOKS = 6
_COUNTS, _COUNTS_FAR = 40, 24
_LARGEST = 2_000_000
_MOST_CLASSES = 5000


class LossObserver(Observer, Losses):
    ops = LOSSES

    def __init__(self, watcher: Watcher) -> None:
        Losses.__init__(self)
        super().__init__(watcher)
        self._seen: dict[tuple[Place | None, str], int] = {}
        self._words: dict[Any, tuple[list[str], dict[str, Any]]] = {}
        self._batch: tuple[Origin, ...] = ()

    def batch(self, loader: Loader, batch: Any) -> None:
        known = map(self.watcher.tensor_history.known, tensors_in(batch)) if self.watcher.tensor_history.on else ()
        self._batch = tuple(origin for origin in known if origin is not None)

    def op(self, call: Call) -> None:
        fact = LossCall(call.name, call.place, self.count, self.watcher.step)
        fact.grad, fact.visit = call.grad, call.visit
        self.count += 1
        fact.backward = self.watcher.steps.backward_count
        fact.batch = self._batch
        tensors = self._read(call, fact)
        seen = self._seen.get((call.place, call.name), 0)
        self._seen[(call.place, call.name)] = seen + 1
        with quietly():
            self._look(fact, tensors, call, seen)
        self.calls.append(fact)

    # Reading a call

    def _read(self, call: Call, fact: LossCall) -> dict[str, Any]:
        names, defaults = self._signature(call.function)
        given = dict(zip(names, call.args, strict=False)) | call.kwargs
        fact.arguments = {name: given.get(name, value) for name, value in defaults.items()}
        fact.arguments = {k: v for k, v in fact.arguments.items() if isinstance(v, (bool, int, float, str))}
        fact.reduction = _reduction(fact.arguments)
        ignored = fact.arguments.get("ignore_index")
        fact.ignore_index = ignored if isinstance(ignored, int) else None
        tensors = {_WORDS.get(name, name): value for name, value in given.items() if isinstance(value, torch.Tensor)}
        known = {id(tensor): origin for tensor, origin in zip(call.inputs, call.origins, strict=False)}
        for name, tensor in tensors.items():
            origin = known.get(id(tensor))
            fact.origins[name] = origin if origin is not None else self.watcher.tensor_history.of(tensor)
            fact.shapes[name] = tuple(tensor.shape)
        fact.target_requires_grad = "target" in tensors and tensors["target"].requires_grad
        if call.outputs:
            fact.result = self.watcher.tensor_history.known(call.outputs[0])
        return tensors

    def _signature(self, function: Any) -> tuple[list[str], dict[str, Any]]:
        known = self._words.get(function)
        if known is None:
            try:
                found = inspect.signature(function).parameters.values()
                names = [p.name for p in found]
                defaults = {p.name: p.default for p in found if p.default is not p.empty}
            except (TypeError, ValueError):  # a built-in function; all of these begin the same way
                names, defaults = ["input", "target"], {}
            known = self._words[function] = (names, defaults)
        return known

    def _look(self, fact: LossCall, tensors: dict[str, Any], call: Call, seen: int) -> None:
        if any(type(tensor) not in _PLAIN for tensor in tensors.values()):
            return
        if any(map(is_transformed, (*tensors.values(), *call.outputs))):
            return  # inside vmap there is no one value to read
        most = _COUNTS_FAR if any(map(is_far, tensors.values())) else _COUNTS
        if seen >= most or not all(map(can_fetch, (*tensors.values(), *call.outputs))):
            return
        fact.weight, fact.pos_weight = (_numbers(tensors.get(name)) for name in ("weight", "pos_weight"))
        fact.counts = _counts(tensors.get("target"))
        if call.outputs and call.outputs[0].numel() == 1:
            fact.value = float(raw.item(here(call.outputs[0])))
        first = tensors.get("input")
        if first is not None and seen < _LOOKS and 0 < first.numel() <= _LARGEST and first.is_floating_point():
            fact.look = _look_at(fact.name, here(first), tensors.get("target"))


_WORDS = {"log_probs": "input", "targets": "target"}  # as `ctc_loss` says
_PLAIN = (torch.Tensor, torch.nn.Parameter)


def _look_at(name: str, tensor: Any, target: Any) -> Look:
    look = Look()
    finite = tensor[tensor.isfinite()] if not bool(raw.item(tensor.isfinite().all())) else tensor
    if finite.numel():
        look.low, look.high = _span(finite)
    axis = class_axis(name, tensor.dim())
    if tensor.dim() and (name in _CLASSES_IN_ROWS or tensor.dim() > 1):
        look.sums = _span(raw.float(tensor).sum(axis))
        if name in _CLASSES_IN_ROWS:
            look.logsumexp = _span(raw.float(tensor).logsumexp(axis))
    if target is not None and 0 < target.numel() <= _LARGEST and not target.is_complex():
        values = raw.float(here(target))
        look.target_low, look.target_high = _span(values)
        look.integral = not target.is_floating_point() or bool(raw.item((values == values.round()).all()))
        if target.is_floating_point() and target.dim() == tensor.dim() and target.dim():
            look.target_sums = _span(values.sum(axis))
    return look


def _span(tensor: Any) -> tuple[float, float]:
    low, high = raw.aminmax(tensor)
    return float(raw.item(low)), float(raw.item(high))


def _numbers(tensor: Any) -> list[float] | None:
    if tensor is None or tensor.numel() > _MOST_CLASSES:
        return None
    return [float(value) for value in raw.tolist(here(tensor).reshape(-1))]


def _counts(target: Any) -> dict[int, int] | None:
    if target is None or not 0 < target.numel() <= _LARGEST // 20 or target.is_complex():
        return None
    target = here(target)
    if target.is_floating_point() and not bool(raw.item(((target == 0) | (target == 1)).all())):
        return None
    values, counts = target.reshape(-1).long().unique(return_counts=True)
    if values.numel() > _MOST_CLASSES:
        return None
    return dict(zip(raw.tolist(values), raw.tolist(counts), strict=True))


def _reduction(arguments: dict[str, Any]) -> str:
    """How a loss reduces; `size_average` and `reduce` are the names that older scripts use, and torch still obeys them.

    >>> _reduction({"reduction": "mean", "size_average": False}), _reduction({"reduction": "sum"})
    ('sum', 'sum')
    """
    old = {name: arguments[name] for name in ("size_average", "reduce") if isinstance(arguments.get(name), bool)}
    if not old:
        return str(arguments.get("reduction", "mean"))
    if not old.get("reduce", True):
        return "none"
    return "mean" if old.get("size_average", True) else "sum"
