"""Losses: every call of a loss function, what it compared, and a look at the values of the first calls a place."""

from __future__ import annotations

import inspect
from collections import deque
from typing import TYPE_CHECKING, Any

import torch

from stepscope.events.pristine import raw
from stepscope.events.quiet import quietly
from stepscope.record.arguments import tensors_in
from stepscope.record.statistics import is_transformed
from stepscope.record.watch.fetch import can_fetch, here, is_far
from stepscope.record.watch.witness import Witness

if TYPE_CHECKING:
    from stepscope.record.watch.loaders import Loader
    from stepscope.record.watch.origin import Origin
    from stepscope.record.watch.trail import Call
    from stepscope.record.watch.visits import Visit
    from stepscope.record.watch.watcher import Watcher
    from stepscope.records.place import Place

__all__ = ["LOSSES", "Look", "LossCall", "Losses"]

LOSSES = frozenset((
    "cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "mse_loss", "l1_loss",
    "smooth_l1_loss", "huber_loss", "kl_div", "gaussian_nll_loss", "poisson_nll_loss", "triplet_margin_loss",
    "triplet_margin_with_distance_loss", "cosine_embedding_loss", "margin_ranking_loss", "hinge_embedding_loss",
    "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "soft_margin_loss", "ctc_loss",
))  # fmt: skip
_CLASSES_IN_ROWS = frozenset({"cross_entropy", "nll_loss", "kl_div", "ctc_loss"})
_KEPT = 2000
_LOOKS = 6
_COUNTS, _COUNTS_FAR = 40, 24
_LARGEST = 2_000_000
_MOST_CLASSES = 5000


class Look:
    """Numbers of one call."""

    __slots__ = (
        "high", "integral", "logsumexp", "low", "sums", "target_high", "target_low", "target_sums",
    )  # fmt: skip

    def __init__(self) -> None:
        self.low = self.high = 0.0
        """The smallest and largest value of the input (of what is finite)."""
        self.sums: tuple[float, float] | None = None
        """The smallest and largest sum over the classes of one row."""
        self.logsumexp: tuple[float, float] | None = None
        """The same of the logarithm of the sum of exponentials: 0 for log-probabilities."""
        self.target_low: float | None = None
        self.target_high: float | None = None
        self.target_sums: tuple[float, float] | None = None
        self.integral = False
        """All targets are whole numbers."""

    @property
    def rows_are_probabilities(self) -> bool:
        return self.low >= 0 and self.sums is not None and _near(self.sums, 1.0, 1e-3)

    @property
    def rows_are_log_probabilities(self) -> bool:
        return self.high <= 1e-3 and self.logsumexp is not None and _near(self.logsumexp, 0.0, 0.02)


def _near(span: tuple[float, float], wanted: float, slack: float) -> bool:
    return abs(span[0] - wanted) <= slack and abs(span[1] - wanted) <= slack


class LossCall:
    """One call of a loss function."""

    __slots__ = (
        "arguments", "backward", "batch", "counts", "grad", "ignore_index", "index", "look", "name", "origins", "place",
        "pos_weight", "reduction", "result", "shapes", "step", "target_requires_grad", "value", "visit", "weight",
    )  # fmt: skip

    def __init__(self, call: Call, index: int, step: int) -> None:
        self.name = call.name
        """The function: `cross_entropy`, also for `nn.CrossEntropyLoss`."""
        self.place: Place | None = call.place
        self.index = index
        self.step = step
        self.backward = 0
        """How many backwards had run before it."""
        self.grad = call.grad
        self.visit: Visit | None = call.visit
        """The call of the loss module, or of the user's module that calls the function."""
        self.origins: dict[str, Origin] = {}
        """By the function's own words: input, target, weight, pos_weight, anchor, positive, negative ..."""
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.arguments: dict[str, Any] = {}
        """The arguments that are no tensors, with defaults."""
        self.result: Origin | None = None
        self.value: float | None = None
        self.reduction = "mean"
        self.ignore_index: int | None = None
        self.weight: list[float] | None = None
        self.pos_weight: list[float] | None = None
        self.target_requires_grad = False
        self.counts: dict[int, int] | None = None
        """How often each whole number is among the targets (ignored ones too)."""
        self.look: Look | None = None
        self.batch: tuple[Origin, ...] = ()
        """The tensors the last loader delivered before it."""

    @property
    def input(self) -> Origin | None:
        return self.origins.get("input")

    @property
    def target(self) -> Origin | None:
        return self.origins.get("target")

    @property
    def trains(self) -> bool:
        """It was computed with gradients, from something that has one."""
        return self.grad and any(origin.requires_grad for origin in self.origins.values())

    def __repr__(self) -> str:
        return f"LossCall({self.name}, {self.shapes})"


class Losses(Witness):
    """`run.losses`"""

    ops = LOSSES

    def __init__(self, watcher: Watcher) -> None:
        super().__init__(watcher)
        self.calls: deque[LossCall] = deque(maxlen=_KEPT)
        self.count = 0
        self._seen: dict[tuple[Place | None, str], int] = {}
        self._words: dict[Any, tuple[list[str], dict[str, Any]]] = {}
        self._batch: tuple[Origin, ...] = ()

    def batch(self, loader: Loader, batch: Any) -> None:
        known = map(self.watcher.trail.known, tensors_in(batch)) if self.watcher.trail.on else ()
        self._batch = tuple(origin for origin in known if origin is not None)

    def op(self, call: Call) -> None:
        fact = LossCall(call, self.count, self.watcher.step)
        self.count += 1
        fact.backward = self.watcher.steps.backward_count
        fact.batch = self._batch
        tensors = self._read(call, fact)
        seen = self._seen.get((call.place, call.name), 0)
        self._seen[(call.place, call.name)] = seen + 1
        with quietly():
            self._look(fact, tensors, call, seen)
        self.calls.append(fact)

    # What rules ask

    def named(self, *names: str) -> list[LossCall]:
        """The calls of these functions, the first first."""
        return [call for call in self.calls if call.name in names]

    def by_place(self, *names: str, training: bool = True) -> list[list[LossCall]]:
        """The calls of these functions (of all, if none is named), grouped by the line that makes them."""
        groups: dict[tuple[Any, str], list[LossCall]] = {}
        for call in self.calls:
            if (not names or call.name in names) and (call.trains or not training):
                groups.setdefault((call.place, call.name), []).append(call)
        return list(groups.values())

    # Reading a call

    def _read(self, call: Call, fact: LossCall) -> dict[str, Any]:
        names, defaults = self._signature(call.function)
        given = dict(zip(names, call.args, strict=False)) | call.kwargs
        fact.arguments = {name: given.get(name, value) for name, value in defaults.items()}
        fact.arguments = {k: v for k, v in fact.arguments.items() if isinstance(v, (bool, int, float, str))}
        fact.reduction = str(fact.arguments.get("reduction", "mean"))
        ignored = fact.arguments.get("ignore_index")
        fact.ignore_index = ignored if isinstance(ignored, int) else None
        tensors = {_WORDS.get(name, name): value for name, value in given.items() if isinstance(value, torch.Tensor)}
        known = {id(tensor): origin for tensor, origin in zip(call.inputs, call.origins, strict=False)}
        for name, tensor in tensors.items():
            origin = known.get(id(tensor))
            fact.origins[name] = origin if origin is not None else self.watcher.trail.of(tensor)
            fact.shapes[name] = tuple(tensor.shape)
        fact.target_requires_grad = "target" in tensors and tensors["target"].requires_grad
        if call.outputs:
            fact.result = self.watcher.trail.known(call.outputs[0])
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


def class_axis(name: str, axes: int) -> int:
    """The axis of the classes: the last of a matrix, and of what `kl_div` and `ctc_loss` get; else the second."""
    return -1 if axes < 2 or name in ("kl_div", "ctc_loss") else 1


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
