"""Non-finite values: the ops that made NaN, Inf or an infinite slope, and the alarm when a loss or a
gradient is not finite.

While the trail is on, ops that can go wrong (`log`, `sqrt`, `/`, `exp` ...) are looked at each time, others the first
times. An alarm is raised by a loss that is not finite at `backward`, or by gradients that are not before the step of
the optimizer, and it counts only once the damage is there: parameters that are not finite, or one bad loss after
another. So a script that skips such steps by itself is left in peace, and so is an infinity that arrives nowhere.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import torch

from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.nonfinite import STEEP, Alarm, Nonfinite, Spot
from stepscope.record.observers.fetch import can_fetch, here
from stepscope.record.observers.gradients import forget, gradient_norms
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import is_own_file
from stepscope.record.statistics import is_transformed, stats_of

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.evidence.steps import Backward, Step
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher

_RISKY = STEEP | frozenset((
    "log", "log_", "log2", "log10", "log1p", "logit", "xlogy", "rsqrt", "div", "div_", "true_divide", "divide",
    "reciprocal", "reciprocal_", "reciprocal_mul", "exp", "exp_", "exp2", "expm1", "sinh", "cosh", "std", "var", "mean",
    "atanh", "acosh", "erfinv", "cross_entropy", "nll_loss", "softmax", "log_softmax", "normalize", "square",
))  # fmt: skip
_MEANT = frozenset((
    "masked_fill", "masked_fill_", "full", "full_like", "fill_", "where", "new_full", "tensor", "triu", "tril", "pad",
    "setitem_", "index_fill", "index_fill_",
))  # fmt: skip
"""An infinity that one of these made was put there on purpose."""
_PLAIN = (torch.Tensor, torch.nn.Parameter)
_LOOKS = 10
_LARGEST = 2**22
_SPOTS = 400
_WARNINGS = 40
_WHOLE = 2**20
_SMALL = 2**14
_FIRST = 50
_HALF_PI = math.pi / 2
_dispatch_modes = torch._C._len_torch_dispatch_stack


class NonfiniteObserver(Observer, Nonfinite):
    def __init__(self, watcher: Watcher) -> None:
        Nonfinite.__init__(self)
        super().__init__(watcher)
        self._pending: Alarm | None = None
        self._bad_losses = 0
        self._looks: dict[tuple[str, int], int] = {}
        self._last: Backward | None = None
        self._origins: dict[int, Origin] = {}
        """Where the loss came from when last seen, by the line of backward."""

    def resume(self) -> None:
        forget()  # those of an earlier window
        if self.watcher.steps.backwards:
            self._last = self.watcher.steps.backwards[-1]

    # Ops

    def op(self, call: Call) -> None:
        known = self.watcher.tensor_history.known
        outputs = [(tensor, origin) for tensor in call.outputs if (origin := known(tensor)) is not None]
        for tensor, origin in outputs:
            # A view's node may be recreated when it is asked for (or refuse to be), and a view makes no values.
            if tensor.requires_grad and not tensor._is_view() and tensor.grad_fn is not None:
                origin.sequence = tensor.grad_fn._sequence_nr()
        if self.alarm is not None or (call.name not in _RISKY and self._looked_enough(call)):
            return
        if _dispatch_modes():
            with quietly():
                self._look(call, outputs)
        else:
            self._look(call, outputs)

    def _looked_enough(self, call: Call) -> bool:
        if call.place is None:
            return True
        key = (call.name, id(call.place))
        seen = self._looks.get(key, 0)
        self._looks[key] = seen + 1
        return seen >= _LOOKS

    def _look(self, call: Call, outputs: list[tuple[Any, Origin]]) -> None:
        for tensor, origin in outputs:
            if call.name.startswith("empty") or not _can_look(tensor):
                continue
            low, high = _edges(tensor)
            if not (math.isfinite(low) and math.isfinite(high)):
                self._note("value", call, tensor, origin)
            elif call.name in STEEP and tensor.requires_grad and _is_steep(call, low, high):
                self._note("slope", call, tensor, origin)
            elif origin.kind not in ("parameter", "buffer"):
                origin.spot = False

    def _note(self, kind: str, call: Call, tensor: Any, origin: Origin) -> None:
        origin.spot = spot = Spot(kind, call.name, call.place, origin.index, origin.step)
        spot.visit, spot.made, spot.arguments = call.visit, stats_of(tensor), origin.arguments
        spot.reads = [stats_of(read) if _can_look(read) else None for read in call.inputs]
        spot.meant = call.name in _MEANT
        if len(self.spots) < _SPOTS:
            self.spots.append(spot)

    # Alarms

    def backward(self, backward: Backward, roots: list[Any]) -> None:
        self._last = backward
        key = 0 if backward.place is None else id(backward.place)
        if backward.origin is not None:
            self._origins[key] = backward.origin
        if self.alarm is not None or not backward.accumulates or backward.loss is None or backward.far:
            return
        if math.isfinite(backward.loss):
            self._pending, self._bad_losses = None, 0
            return
        self._bad_losses += 1
        if self._pending is None:
            self._pending = self._raise("loss", backward, key)
            self._pending.parameters = self._bad_parameters()
            if not self._pending.parameters:
                from stepscope.record.nonfinite_search import autopsy

                self._pending.verdict = autopsy(roots[0])
        elif self._bad_losses >= 3:
            self._confirm(self._pending)

    def _raise(self, kind: str, backward: Backward, key: int) -> Alarm:
        alarm = Alarm(kind, backward, self.watcher.step)
        if alarm.origin is None:
            alarm.origin, alarm.seen = self._origins.get(key), False
        return alarm

    def step_begins(self, step: Step, optimizer: Any) -> None:
        if self.alarm is not None or self._pending is not None or self._last is None:
            return
        parameters = [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        bad = _any_bad(_some(parameters, step.index))
        if bad:
            place = self._last.place
            self._pending = self._raise("gradient", self._last, id(place) if place else 0)
            self._pending.parameters = [self.watcher.models.name_of(p) for p in parameters if _is_bad(p.grad)]

    def step_done(self, step: Step, optimizer: Any) -> None:
        if self.alarm is None and self._pending is None and self._last is not None and _is_rare(step.index):
            self._look_at_device(optimizer)
        if self._pending is None or self.alarm is not None:
            return
        if any(_is_bad(p) for group in optimizer.param_groups for p in group["params"]):
            self._confirm(self._pending)
        elif self._pending.kind == "gradient":
            self._pending = None

    def _look_at_device(self, optimizer: Any) -> None:
        """On an accelerator every look waits for it, so only now and then one small parameter is looked at."""
        found = (p for group in optimizer.param_groups for p in group["params"])
        small = next((p for p in found if p.device.type != "cpu" and 0 < p.numel() <= _SMALL and _is_plain(p)), None)
        if (
            small is None
            or self._last is None
            or not can_fetch(small)
            or bool(raw.item(raw.isfinite(here(small)).all()))
        ):
            return
        place = self._last.place
        alarm = self._raise("loss", self._last, id(place) if place else 0)
        alarm.parameters, alarm.value, alarm.seen = [self.watcher.models.name_of(small)], math.nan, False
        self._confirm(alarm)

    def _confirm(self, alarm: Alarm) -> None:
        self.alarm = alarm
        alarm.numpy_warnings = list(islice(_numpy_warnings(), _WARNINGS))

    def _bad_parameters(self) -> list[str]:
        models = self.watcher.models
        return [models.name_of(p) for p in models.all_parameters() if _is_bad(p)]


def _numpy_warnings() -> Iterator[tuple[str, str, int]]:
    """(text, file, line) of the warnings of numbers that were raised at lines of the user's own."""
    for module in list(sys.modules.values()):
        path, registry = getattr(module, "__file__", None), getattr(module, "__warningregistry__", None)
        if not isinstance(path, str) or not isinstance(registry, dict) or not is_own_file(os.path.abspath(path)):
            continue
        for key in list(registry):
            if isinstance(key, tuple) and len(key) == 3 and isinstance(key[0], str):
                yield key[0], os.path.abspath(path), key[2]


def _is_rare(step: int) -> bool:
    return step in (2, 5, 10, 20)


def _is_plain(tensor: Any) -> bool:
    plain = type(tensor) in _PLAIN and tensor.is_floating_point() and tensor.layout is torch.strided
    return plain and not is_transformed(tensor)


def _can_look(tensor: Any) -> bool:
    return _is_plain(tensor) and tensor.device.type == "cpu" and 0 < tensor.numel() <= _LARGEST


def _edges(tensor: Any) -> tuple[float, float]:
    """Smallest and largest value: NaN if there is one, infinite if there is an Inf."""
    try:
        low, high = raw.aminmax(raw.detach(tensor))
    except RuntimeError:  # a type without an order, such as float8
        return 0.0, 0.0
    return raw.item(low), raw.item(high)


def _any_bad(parameters: list[Any]) -> bool:
    """A norm is finite only if every value is; where one is not, the values may be (squares overflow)."""
    looked = [one for one in parameters if _can_look(one.grad) and can_fetch(one.grad)]
    norms = gradient_norms(looked)
    return any(_is_bad(one.grad) for one, norm in zip(looked, norms, strict=True) if not math.isfinite(norm))


def _is_bad(tensor: Any) -> bool:
    return _can_look(tensor) and not all(map(math.isfinite, _edges(tensor)))


def _is_steep(call: Call, low: float, high: float) -> bool:
    """Whether the derivative is infinite somewhere. Read off the result: it is at hand."""
    name = call.name.rstrip("_")
    if name == "sqrt":
        return low == 0
    if name in ("asin", "arcsin"):
        return max(-low, high) >= _HALF_PI * (1 - 1e-7)
    if name in ("acos", "arccos"):
        return low == 0 or high >= math.pi * (1 - 1e-7)
    exponent = call.argument(1, "exponent")
    if isinstance(exponent, (int, float)) and not isinstance(exponent, bool):
        return 0 < exponent < 1 and low == 0
    if isinstance(exponent, torch.Tensor) and _can_look(exponent) and call.inputs and _can_look(call.inputs[0]):
        return low == 0 and 0 < _edges(exponent)[0] < 1
    return False


def _some(parameters: list[Any], step: int) -> list[Any]:
    """All of a small model's in the first steps; later small ones: a bad gradient reaches the biases too."""
    if step < _FIRST and sum(p.numel() for p in parameters) <= _WHOLE:
        return parameters
    first = list(islice((p for p in parameters if p.numel() <= _SMALL), 2))
    last = list(islice((p for p in reversed(parameters) if p.numel() <= _SMALL), 2)) if len(first) == 2 else []
    return [*first, *(p for p in last if all(p is not one for one in first))] or parameters[:1]
