"""Follows what models are given step by step, which steps are padding, and how targets lie beside them.

Of the first training calls of a model a copy of its (small) inputs is kept until the optimizer steps. A loss that runs
meanwhile is compared with them: is its target the next step of the input, and does it count targets of padding?
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import torch

from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.origins import Origin
from stepscope.evidence.sequences import NextStep, PaddedLoss, Sequences
from stepscope.record.arguments import tensors_in
from stepscope.record.observers.fetch import here, is_far
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.value_sample import can_look

if TYPE_CHECKING:
    from stepscope.evidence.steps import Step
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher

_CALLS = 12
_LARGEST = 2**18
_TARGETED = frozenset({
    "cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "mse_loss", "l1_loss",
    "smooth_l1_loss", "huber_loss",
})  # fmt: skip


@dataclass
class Pads:
    """Where a batch of sequences is padded: True in `mask` (batch, steps)."""

    mask: Any
    value: float
    declared: bool
    """An embedding has it as its padding_idx."""


class _Given:
    """A copy of what a model was given."""

    def __init__(self, visit: Visit, tensors: list[Any], origins: list[Origin]) -> None:
        self.visit = visit
        self.tensors = tensors
        self.origins = origins


class SequenceObserver(Observer, Sequences):
    ops: ClassVar[frozenset[str]] = _TARGETED | {"embedding"}

    def __init__(self, watcher: Watcher) -> None:
        Sequences.__init__(self)
        super().__init__(watcher)
        self.pads: list[Pads] = []
        """Of what is kept now; others compare masks with it."""
        self._given: list[_Given] = []
        self._calls: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._looks: dict[Any, int] = {}

    def root_begins(self, visit: Visit, module: Any, args: Any, kwargs: Any) -> None:
        if not visit.grad or next(module.parameters(), None) is None:
            return
        calls = self._calls.get(module, 0)
        self._calls[module] = calls + 1
        if calls >= _CALLS or not self.watcher.tensor_history.on:
            return
        with quietly():
            given = [tensor for tensor in tensors_in((args, kwargs)) if can_keep(tensor)]
            origins = [self.watcher.tensor_history.of(tensor) for tensor in given]
            copies = [here(t) if is_far(t) else raw.clone(raw.detach(t)) for t in given]
            self._given = [*self._given[-3:], _Given(visit, copies, origins)]
            self.pads = self.pads[-6:]
            for tensor in copies:
                self._note_pads(tensor, None)

    def step_done(self, step: Step, optimizer: Any) -> None:
        self._given, self.pads = [], []

    def op(self, call: Call) -> None:
        if call.name == "embedding":
            self._embedding(call)
        elif self._given and call.grad and len(call.inputs) > 1 and call.inputs[0].requires_grad:
            looks = self._looks.get(call.place, 0)
            if looks < _CALLS and can_look(call.inputs[1]) and 0 < call.inputs[1].numel() <= _LARGEST:
                self._looks[call.place] = looks + 1
                with quietly():
                    self._compare(call, here(call.inputs[1]), call.origins[1])

    # Padding

    def _embedding(self, call: Call) -> None:
        ids = call.inputs[0]
        if not self._given or ids.is_floating_point() or ids.dim() != 2 or not can_keep(ids):
            return
        told = call.argument(2, "padding_idx")
        rows = call.inputs[1].shape[0] if len(call.inputs) > 1 else 0
        with quietly():
            self._note_pads(here(ids), told % rows if isinstance(told, int) and rows else None)

    def _note_pads(self, tensor: Any, told: int | None) -> None:
        if tensor.dim() < 2 or tensor.shape[0] < 2 or tensor.shape[1] < 3 or tensor.dtype == torch.bool:
            return
        found = _declared(tensor, told) if told is not None else padding_of(tensor)
        if found is not None:
            self.pads.append(found)

    # Targets

    def _compare(self, call: Call, target: Any, origin: Origin) -> None:
        ignored = call.argument(4, "ignore_index", -100) if call.name in ("cross_entropy", "nll_loss") else None
        for given in self._given:
            for number, (data, made) in enumerate(zip(given.tensors, given.origins, strict=True)):
                if made is origin or any(made is past for past in origin.ancestors(4)):
                    continue
                axis = _is_next(target, data, origin, ignored)
                if axis is not None and len(self.next_steps) < 40:
                    self.next_steps.append(NextStep(call.place, given.visit, number, axis, data.shape[axis]))
        if call.name in ("cross_entropy", "nll_loss") and not target.is_floating_point():
            self._count_padding(call, target, ignored)

    def _count_padding(self, call: Call, target: Any, ignored: Any) -> None:
        if call.kwargs.get("reduction") == "none" or call.argument(6, "reduction") == "none":
            return
        weight = call.argument(2, "weight")
        for pads in self.pads:
            mask = pads.mask
            if target.numel() != mask.numel() or not bool(raw.item(mask.any())):
                continue
            if not pads.declared and ignored is not None and bool(raw.item((target == ignored).any())):
                continue  # the script says which targets do not count: equal ends of its data are data
            at = target.reshape(mask.shape)[mask]
            value = int(raw.item(at[0]))
            if value == ignored or value < 0 or not bool(raw.item((at == value).all())):
                continue
            if (
                isinstance(weight, torch.Tensor)
                and value < weight.numel()
                and float(raw.item(here(weight[value]))) == 0
            ):
                continue
            fact = self.padded.setdefault(call.place, PaddedLoss(call.place, call.visit, value, pads.declared))
            fact.declared = fact.declared or pads.declared
            fact.counted, fact.total, fact.calls = fact.counted + at.numel(), fact.total + mask.numel(), fact.calls + 1
            return


def can_keep(tensor: Any) -> bool:
    """Whether a copy of it may be kept for a while: small, and of more than one axis."""
    return can_look(tensor) and tensor.dim() >= 2 and 0 < tensor.numel() <= _LARGEST and not tensor.is_complex()


def _declared(ids: Any, told: int) -> Pads | None:
    mask = ids == told
    return Pads(mask, told, True) if bool(raw.item(mask.any())) and not bool(raw.item(mask.all())) else None


def padding_of(tensor: Any) -> Pads | None:
    """One value (of features: a row of zeros) that fills the ends of sequences of different lengths, and only those."""
    if tensor.dim() == 2 and not tensor.is_floating_point():
        value = int(raw.item(tensor[:, -1].mode().values))
        is_pad = tensor == value
    elif tensor.dim() == 3 and tensor.is_floating_point():
        value, is_pad = 0, (tensor == 0).all(-1)
    else:
        return None
    lengths = (~is_pad).sum(1)
    steps = raw.arange(tensor.shape[1], device=tensor.device)
    mask = steps[None, :] >= lengths[:, None]
    if not bool(raw.item((mask == is_pad).all())) or bool(raw.item((lengths == 0).any())):
        return None
    return Pads(mask, value, False) if lengths.unique().numel() > 1 else None


def _is_next(target: Any, data: Any, origin: Origin, ignored: Any) -> int | None:
    """The axis along which the target is the data one step on."""
    for axis in (1, 0) if data.dim() > 1 else ():
        length = data.shape[axis]
        if length < 4 or data.is_floating_point() != target.is_floating_point():
            continue
        ahead = data.narrow(axis, 1, length - 1)
        for shape, part in ((tuple(data.shape), length - 1), (tuple(ahead.shape), length - 1)):
            laid = _laid_out(target, shape, origin)
            if laid is None:
                continue
            laid = laid.narrow(axis, 0, part)
            equal = laid == ahead
            if ignored is not None and not target.is_floating_point():
                equal = equal | (laid == ignored)
            if bool(raw.item(equal.all())) and bool(raw.item((ahead != data.narrow(axis, 0, length - 1)).any())):
                return axis
    return None


def _laid_out(target: Any, shape: tuple[int, ...], origin: Origin) -> Any:
    """The target in this shape again, if a reshape is all that happened to it."""
    numbers = 1
    for size in shape:
        numbers *= size
    if target.numel() != numbers:
        return None
    return target.reshape(shape) if target.dim() in (1, len(shape)) else None
