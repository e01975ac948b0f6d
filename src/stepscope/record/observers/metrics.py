"""Follows how predictions are turned into decisions (`argmax`, `> 0.5`), beside the loss that says what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from stepscope.common.ops import CASTS, COMPARISONS, SOFTMAXES, TO_HOST, VIEWS
from stepscope.evidence.metrics import Decision, Metrics, Picked
from stepscope.evidence.origins import PARAMETER, Origin
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.value_sample import Allowance, can_look, look_at

if TYPE_CHECKING:
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher

_UNCHANGED = VIEWS | SOFTMAXES | {"numpy"}
_KEEP_AXES = CASTS | SOFTMAXES
_LOGIT_LOSSES = frozenset({"binary_cross_entropy_with_logits"})
_CLASS_LOSSES = frozenset({"cross_entropy", "nll_loss"})
_DECISIONS = frozenset({"round", "argmax", "max", "topk", "argmin", "min"})
_MOST, _LOOKS = 80, 20


class MetricObserver(Observer, Metrics):
    ops: ClassVar[frozenset[str]] = _LOGIT_LOSSES | _CLASS_LOSSES | COMPARISONS | _DECISIONS | TO_HOST | {"getitem"}

    def __init__(self, watcher: Watcher) -> None:
        Metrics.__init__(self)
        super().__init__(watcher)
        self._by_place: dict[Any, Decision] = {}
        self._picks: set[Any] = set()
        self._allowance = Allowance(0.1)

    def op(self, call: Call) -> None:
        if not call.origins:
            return
        if call.name == "getitem":
            self._pick(call)
            return
        maker, origin = _maker_of(call.origins[0])
        if call.name in _LOGIT_LOSSES:
            if len(self.logits) < _MOST:
                self.logits.setdefault(maker, call.place)
        elif call.name in _CLASS_LOSSES:
            self._classes(call, maker, origin)
        elif call.origins[0].tags & PARAMETER and (call.name in TO_HOST or (call.outputs and call.inputs[0].ndim)):
            self._decision(call, maker, origin)

    def _pick(self, call: Call) -> None:
        if len(call.inputs) < 2 or call.place in self._picks or call.visit is not None or len(self.picked) >= _MOST:
            return
        if call.inputs[0].ndim and call.origins[0].tags & PARAMETER and call.outputs and call.outputs[0].ndim:
            self._picks.add(call.place)
            self.picked.append(Picked(call.place, call.inputs[0].shape[0], call.outputs[0].shape[0]))

    def _classes(self, call: Call, maker: tuple[Any, ...], origin: Origin) -> None:
        scores = call.inputs[0]
        if len(self.classes) >= _MOST or scores.ndim < 2:
            return
        count = scores.shape[1]
        axes = [axis for axis, size in enumerate(origin.shape) if size == count]
        if not _is_rearranged(call.origins[0], origin) and origin.shape == call.origins[0].shape:
            axes = [1]
        elif count == scores.shape[0]:  # a square that is also taken the other way round (contrastive losses)
            self.ambiguous.add(maker)
        if len(axes) == 1 and axes[0] > 0 and maker not in self.classes:
            self.classes[maker] = (len(origin.shape), axes[0], count, call.place)

    def _decision(self, call: Call, maker: tuple[Any, ...], origin: Origin) -> None:
        tensor = call.inputs[0]
        decision = self._by_place.get(call.place)
        if decision is None:
            if len(self.decisions) >= _MOST:
                return
            decision = self._by_place[call.place] = Decision(call.name, call.place, maker, origin)
            decision.shape = tuple(tensor.shape)
            decision.rearranged = _is_rearranged(call.origins[0], origin)
            if call.name in COMPARISONS:
                other = call.argument(1, "other")
                decision.threshold = float(other) if isinstance(other, (int, float)) else None
            elif call.name in TO_HOST:
                decision.leaves = True
            elif call.name == "round":
                decision.threshold = 0.5
            else:
                place = 2 if call.name == "topk" else 1
                dim = call.argument(place, "dim", call.kwargs.get("axis"))
                decision.dim = dim if isinstance(dim, int) and not isinstance(dim, bool) else None
                decision.whole = dim is None and call.name != "topk"
            self.decisions.append(decision)
        decision.count += 1
        if tensor.ndim and decision.shape and tensor.shape[0] > decision.shape[0]:
            decision.shape = tuple(tensor.shape)
        compared = decision.threshold is not None or decision.leaves
        if compared and decision.count <= _LOOKS and can_look(tensor) and self._allowance.left():
            with self._allowance:
                look = look_at(tensor)
            decision.low, decision.high = min(decision.low, look.low), max(decision.high, look.high)
            decision.outside += look.low < 0 or look.high > 1


def _is_rearranged(origin: Origin, maker: Origin) -> bool:
    while origin is not maker and origin.inputs:
        if origin.op not in _KEEP_AXES:
            return True
        origin = origin.inputs[0]
    return False


def _maker_of(origin: Origin) -> tuple[tuple[Any, ...], Origin]:
    """What has computed these numbers, seen through views, casts and softmax: the line that did, and its origin."""
    while origin.op in _UNCHANGED and origin.inputs:
        origin = origin.inputs[0]
    visit = origin.visit
    if visit is None:
        return (origin.op, origin.place), origin
    # Inside a layer of torch's own the nearest line of the user is the call of the model, which is elsewhere each time.
    place = None if origin.place == visit.place or origin.place == visit.root.place else origin.place
    return (origin.op, place, visit.root.module, visit.path), origin
