"""Follows moving averages of weights: `average.mul_(d).add_(weight, alpha=1 - d)`, `lerp_`, or written as a sum."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from stepscope.common.ops import CASTS
from stepscope.evidence.averaging import Averaging, MovingAverage
from stepscope.record.observers.observer import Observer

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

_KEPT = 20


class AveragingObserver(Observer, Averaging):
    ops = frozenset({"mul_", "add_", "lerp_", "add"})

    def __init__(self, watcher: Watcher) -> None:
        Averaging.__init__(self)
        super().__init__(watcher)
        self._scaled: tuple[Any, float] | None = None
        """The tensor that was multiplied in place last, and by what."""
        self._trained: tuple[int, set[int]] = (-1, set())
        """The step, and the origins of what the optimizers hold."""

    def op(self, call: Call) -> None:
        if call.place is None or not call.inputs or (call.grad and any(one.requires_grad for one in call.inputs)):
            return
        if call.name == "mul_":
            factor = _number(call.argument(1, "other"))
            self._scaled = None if factor is None else (weakref.ref(call.inputs[0]), factor)
        elif call.name == "lerp_" and len(call.origins) == 2 and self._is_trained(call.origins[1]):
            take = _number(call.argument(2, "weight"))
            if take is not None:
                self._note(call.place, 1 - take, take)
        elif call.name == "add_":
            self._added(call, call.place)
        elif call.name == "add" and len(call.origins) == 2:
            self._summed(call, call.place)

    def _added(self, call: Call, place: Place) -> None:
        scaled, self._scaled = self._scaled, None
        if scaled is None or scaled[0]() is not call.inputs[0] or len(call.origins) != 2:
            return
        alpha = _number(call.kwargs.get("alpha", 1.0))
        factor, source = _factor(call.origins[1])
        if alpha is not None and self._is_trained(source):
            self._note(place, scaled[1], alpha * factor)

    def _summed(self, call: Call, place: Place) -> None:
        """`decay * average + (1 - decay) * weight`"""
        (one, first), (other, second) = map(_factor, call.origins)
        trained = self._is_trained(first)
        if trained != self._is_trained(second):
            self._note(place, *((other, one) if trained else (one, other)))

    def _is_trained(self, origin: Origin) -> bool:
        """Whether it is a weight that an optimizer holds."""
        source = origin.back_through(CASTS)
        if source.kind != "parameter":
            return False
        if self._trained[0] != self.watcher.step:
            known = self.watcher.tensor_history.known
            held = (known(p) for made in self.watcher.optimizers.made for p in made.alive())
            self._trained = self.watcher.step, {id(one) for one in held if one is not None}
        return id(source) in self._trained[1]

    def _note(self, place: Place, keep: float, take: float) -> None:
        if not 0 < take < 1 or abs(keep + take - 1) > 1e-3:
            return
        known = next((one for one in self.all if one.place is place), None)
        if known is None:
            if len(self.all) >= _KEPT:
                return
            known = MovingAverage(place, keep, take, take)
            self.all.append(known)
        known.lowest, known.highest = min(known.lowest, take), max(known.highest, take)
        known.count += 1


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _factor(origin: Origin) -> tuple[float, Origin]:
    """The number a tensor was multiplied by, and the tensor."""
    origin = origin.back_through(CASTS)
    if origin.op == "mul" and len(origin.inputs) == 1:
        for value in origin.arguments.values():
            factor = _number(value)
            if factor is not None:
                return factor, origin.inputs[0].back_through(CASTS)
    return 1.0, origin
