"""Looks, when a model is evaluated, for batch norms that have never seen a batch though its weights are trained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.nn.modules.batchnorm import _BatchNorm
from torch.optim.swa_utils import AveragedModel

from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.norm_statistics import NormStatistics, UnsetNorms
from stepscope.record.observers.fetch import can_fetch
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import own_places

if TYPE_CHECKING:
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

_STEPS = 5
_LOOKS = 40
_LARGEST = 2**20
_WRITES = 4000


class NormStatisticsObserver(Observer, NormStatistics):
    ops: ClassVar[frozenset[str]] = frozenset({"lerp_", "mul_", "add_", "copy_", "sub_"})

    def __init__(self, watcher: Watcher) -> None:
        NormStatistics.__init__(self)
        super().__init__(watcher)
        self._looks = 0
        self._written: dict[int, Place] = {}
        """By the address of a tensor: where an operation of the user's wrote into it while training went on."""

    def op(self, call: Call) -> None:
        if not self.watcher.step or call.place is None or call.visit is not None or len(self._written) >= _WRITES:
            return
        first: Any = call.inputs[0] if call.inputs else None
        if type(first) in (torch.Tensor, torch.nn.Parameter) and first.dim() and first.device.type != "meta":
            self._written.setdefault(first.data_ptr(), call.place)

    def root_begins(self, visit: Visit, module: Any, args: Any, kwargs: Any) -> None:
        if visit.training or visit.grad or self.watcher.step < _STEPS or self._looks >= _LOOKS:
            return
        norms = [(name, part) for name, part in module.named_modules() if _keeps_statistics(part)]
        if not norms:
            return
        self._looks += 1
        with quietly():
            unset = [name for name, part in norms if _is_unset(part)]
            averaged = not unset and _is_equal_average(module)
            twin = self._twin(module) if unset or averaged else None
            if twin is not None and averaged and not _has_same_statistics(module, twin[2]):
                twin = None
        places = own_places()
        if twin is None:
            self.others.update(places)
        elif not any(one.places[:1] == places[:1] and one.model == visit.type for one in self.all):
            layers = unset or [name for name, _ in norms]
            written = None if averaged else self._writer_of(module)
            self.all.append(UnsetNorms(visit.type, twin[0], places, layers, twin[1], written, averaged))

    def _writer_of(self, module: Any) -> Place | None:
        places = (self._written.get(one.data_ptr()) for one in module.parameters() if one.device.type != "meta")
        return next((place for place in places if place is not None), None)

    def _twin(self, module: Any) -> tuple[str, float, Any] | None:
        """A trained model of the same shapes whose weights are much like these; random ones are at right angles."""
        shapes = [tuple(one.shape) for one in module.parameters()]
        for model in self.watcher.models.roots:
            other = model.live()
            if other is None or other is module or not model.calls_with_grad:
                continue
            if [tuple(one.shape) for one in other.parameters()] == shapes:
                likeness = _likeness(module, other)
                if likeness > 0.5:
                    return model.type, likeness, other
        return None


def _keeps_statistics(part: Any) -> bool:
    return isinstance(part, _BatchNorm) and part.running_mean is not None and not part.training


def _is_unset(part: Any) -> bool:
    """As it was made: no batch has gone through it, and nothing was loaded into it."""
    seen, mean, variance = part.num_batches_tracked, part.running_mean, part.running_var
    if seen is None or not can_fetch(mean) or bool(raw.item(seen)):
        return False
    return not bool(raw.item((mean != 0).any())) and not bool(raw.item((variance != 1).any()))


def _is_equal_average(module: Any) -> bool:
    """Torch's own stochastic weight averaging, of two models or more; others may want the latest statistics."""
    if not isinstance(module, AveragedModel) or module.avg_fn is not None:
        return False
    return getattr(module, "multi_avg_fn", None) is None and int(raw.item(module.n_averaged)) > 1


def _has_same_statistics(module: Any, other: Any) -> bool:
    mine, theirs = ([one for one in net.modules() if isinstance(one, _BatchNorm)] for net in (module, other))
    return all(bool(raw.equal(a.running_mean, b.running_mean)) for a, b in zip(mine, theirs, strict=True))


def _likeness(module: Any, other: Any) -> float:
    pairs = [(a, b) for a, b in zip(module.parameters(), other.parameters(), strict=True) if a.numel() <= _LARGEST]
    matrices = [(a, b) for a, b in pairs if a.dim() > 1 and a.is_floating_point() and can_fetch(a) and can_fetch(b)]
    if not matrices:
        return 0.0
    first, second = (
        raw.double(raw.detach(one)).reshape(-1) for one in max(matrices, key=lambda pair: int(pair[0].numel()))
    )
    size = float(raw.item(first.norm() * second.norm()))
    return float(raw.item((first * second).sum())) / size if size > 0 else 0.0
