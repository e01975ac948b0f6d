"""Follows calls of models in which something depends on train or eval mode, and what became of their results."""

from __future__ import annotations

import math
import sys
from types import FrameType
from typing import TYPE_CHECKING, Any

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd

from stepscope.events.unpatched_torch import raw
from stepscope.evidence.forwards import Forward, Forwards, MovingNorm
from stepscope.evidence.origins import DATA, NOISE
from stepscope.record.observers.fetch import can_fetch, here
from stepscope.record.observers.module_records import live
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import is_own

if TYPE_CHECKING:
    from stepscope.evidence.modules import Module
    from stepscope.evidence.steps import Backward
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher

_KEPT = 400
_PER_PLACE = 12
_BACKWARDS = 60
_ANCESTORS = 6000
_CHANNELS = 256
_DROPOUTS = frozenset((
    "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout",
    "scaled_dot_product_attention",
))  # fmt: skip


class ForwardObserver(Observer, Forwards):
    ops = _DROPOUTS

    def __init__(self, watcher: Watcher) -> None:
        Forwards.__init__(self)
        super().__init__(watcher)
        self._open: dict[int, Forward] = {}
        self._recent: list[Forward] = []
        self._places: dict[Any, int] = {}
        self._looked = 0
        self._moving: dict[Module, tuple[int, MovingNorm | None]] = {}
        self._began: dict[MovingNorm, list[list[float]]] = {}
        """The first mean and variance of each layer that moves."""

    def root_begins(self, visit: Visit, module: Any, args: Any, kwargs: Any) -> None:
        key = (visit.place, visit.training, visit.grad, visit.type, self.watcher.trainer.stage)
        seen = self._places[key] = self._places.get(key, 0) + 1
        if seen > _PER_PLACE or len(self.all) >= _KEPT:
            return
        self._add(visit, module)

    def _add(self, visit: Visit, module: Any) -> None:
        forward = Forward(visit, self.watcher.steps.backward_count)
        forward.droppers, forward.norms = _moody_layers(module)
        forward.followed = self.watcher.tensor_history.on and self._looked < _BACKWARDS
        forward.loader = self.watcher.loaders.current
        forward.stage = self.watcher.trainer.stage
        forward.forced = type(module).train is not nn.Module.train
        forward.drawn = bool(visit.inputs) and all(_is_drawn(origin, visit.step) for origin in visit.inputs)
        forward.last_train = self.watcher.modes.last_of(module)
        self.all.append(forward)
        self._recent.append(forward)
        self._open[id(visit)] = forward
        if len(self._open) > 100:
            del self._open[next(iter(self._open))]

    def module_done(self, visit: Visit, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        parent = visit.parent
        if parent is not None and parent.grad and visit.training and not visit.grad and len(self.all) < _KEPT:
            key = (visit.path, visit.type)  # a part that runs with gradients off: a teacher, a target network
            seen_here = self._places[key] = self._places.get(key, 0) + 1
            if seen_here <= _PER_PLACE:
                self._add(visit, module)
        if not isinstance(module, _BatchNorm) or not visit.training or not visit.grad or not visit.shapes_in:
            return
        seen = self.norm_batches.setdefault(visit.path, [])
        shape = visit.shapes_in[0]
        if len(seen) < _PER_PLACE and len(shape) >= 2:
            seen.append((shape[0], math.prod(shape) // max(shape[1], 1)))
        self._note_moving(module)

    def _note_moving(self, module: _BatchNorm) -> None:
        """Batches went through a batch norm in training mode: was it meant to stay as it is?"""
        trained = any(one is not None and one.requires_grad for one in module._parameters.values())
        if (trained and not self._moving) or module.running_mean is None or module.momentum == 0:
            return
        layer, modes = self.watcher.module_records.of(module), self.watcher.modes
        looked_at, known = self._moving.get(layer, (-1, None))
        if trained:
            if known is not None and known.mode is modes.last_of(module):
                known.frozen = None  # it is trained in turns with something else
            return
        if looked_at == len(modes.calls) or len(self.moving_norms) >= _KEPT:
            return
        mode = modes.last_of(module)
        part = _frozen_around(module, live(mode.module)) if mode is not None and mode.on else None
        if mode is not None and part is not None and (known is None or known.mode is not mode):
            known = MovingNorm(layer, mode, self.watcher.module_records.of(part))
            self._note_statistics(known, module)
            self.moving_norms.append(known)
        self._moving[layer] = (len(modes.calls), known)

    def _note_statistics(self, norm: MovingNorm, module: _BatchNorm) -> None:
        """What it had learned when batches first went through it (one has done so by now)."""
        mean, variance, count = module.running_mean, module.running_var, module.num_batches_tracked
        if mean is None or variance is None or count is None or not all(map(can_fetch, (mean, variance, count))):
            return
        norm.learned = int(raw.item(here(count))) - 1
        self._began[norm] = [raw.tolist(raw.float(here(one)[:_CHANNELS])) for one in (mean, variance)]

    def settle(self) -> None:
        """How far the statistics of frozen layers have moved by now."""
        for norm, (means, variances) in self._began.items():
            module = live(norm.module)
            mean = None if module is None else module.running_mean
            if mean is None or not can_fetch(mean):
                continue
            now = raw.tolist(raw.float(here(mean)[:_CHANNELS]))
            moved = [abs(a - b) / math.sqrt(v + 1e-5) for a, b, v in zip(now, means, variances, strict=False)]
            norm.drift = sum(moved) / max(len(moved), 1)

    def op(self, call: Call) -> None:
        """A dropout that the user's own code calls: is it one that is always on?"""
        if call.visit is None or not (call.direct or _called_by_user(call.name)):
            return
        if call.name == "scaled_dot_product_attention":
            on = bool(call.argument(4, "dropout_p", 0.0))
        else:
            on = bool(call.argument(1, "p", 0.5)) and bool(call.argument(2, "training", True))
        seen = self.dropouts.setdefault(call.place, (call.name, call.visit, []))[2]
        if on and seen.count(call.visit.training) < 2 * _PER_PLACE:  # training must not crowd out a late evaluation
            seen.append(call.visit.training)

    def backward(self, backward: Backward, roots: list[Any]) -> None:
        """Which of the calls so far does this loss come from?"""
        for forward in self._recent:
            forward.led = forward.visit.grad
        self._recent = []
        if not self._open or backward.origin is None or self._looked >= _BACKWARDS:
            return
        self._looked += 1
        seen: set[int] = set()
        for origin in backward.origin.ancestors(_ANCESTORS):
            visit = origin.visit
            while visit is not None and id(visit) not in seen:
                seen.add(id(visit))
                found = self._open.pop(id(visit), None)
                if found is not None:
                    found.used = True
                visit = visit.parent


def _called_by_user(name: str) -> bool:
    """Whether the function of torch that runs now was called by the user's code, and not by a module of torch."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_name != name:
        frame = frame.f_back
    return frame is not None and frame.f_back is not None and is_own(frame.f_back.f_code)


def _is_drawn(origin: Any, step: int) -> bool:
    return bool(origin.tags & NOISE) and not origin.tags & DATA and origin.step >= step > 0


def _frozen_around(norm: _BatchNorm, whole: nn.Module | None) -> nn.Module | None:
    """The largest part of `whole` with this layer in it of which no parameter is trained."""
    path = None if whole is None else next((path for path, part in whole.named_modules() if part is norm), None)
    if whole is None or path is None:
        return None
    names = path.split(".")
    for length in range(len(names) + 1):
        part = whole.get_submodule(".".join(names[:length]))
        parameters = list(part.parameters())
        if parameters and not any(one.requires_grad for one in parameters):
            return part
    return None


def _moody_layers(module: Any) -> tuple[list[str], list[str]]:
    """The layers of a module that drop values, and those that use the statistics of the batch, as they stand now."""
    droppers, norms = [], []
    for name, part in module.named_modules():
        if not part.training:
            continue
        if isinstance(part, _DropoutNd):
            if part.p > 0:
                droppers.append(name or type(part).__name__)
        elif isinstance(part, _BatchNorm):
            if part.track_running_stats:
                norms.append(name or type(part).__name__)
        elif isinstance(part, nn.RNNBase):
            if part.dropout > 0 and part.num_layers > 1:
                droppers.append(name)
        elif isinstance(part, nn.MultiheadAttention) and part.dropout > 0:
            droppers.append(name)
    return droppers, norms
