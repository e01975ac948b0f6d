"""Follows which results of the user's own code are freed without an operation having read them."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import torch

from stepscope.common.ops import ARITHMETIC, CONTRACTIONS, MASKS, TO_HOST
from stepscope.events.quiet import quietly
from stepscope.evidence.origins import CONSTANT, DATA, HOST, NOISE, OUTPUT, PARAMETER
from stepscope.evidence.unused_results import Unused, UnusedResults
from stepscope.record.observers.gradients import have_gradients
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.result_use import fate_of_call

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.evidence.steps import Backward, Step
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

_WAITING = 3000
_KEPT = 60
_WAITS = 3
"""Steps after which a result that somebody still holds is no longer waited for."""
_STARVING_LOOKS = 3
_ANCESTORS = 3000
_TRANSFORMS = ARITHMETIC | MASKS | {"clamp", "clip", "flip", "roll", "normalize"}
_SIDE_EFFECTS = TO_HOST | {"bool", "float", "int", "index", "contains", "equal", "allclose", "backward", "grad"}


class _Result:
    """A result that nothing has read yet."""

    __slots__ = ("is_own", "origin", "ref", "step")

    def __init__(self, tensor: Any, origin: Origin, step: int, is_own: bool) -> None:
        self.ref = weakref.ref(tensor)
        self.origin = origin
        self.step = step
        self.is_own = is_own
        """The user's own code made it, or called the module that returned it."""


class UnusedResultObserver(Observer, UnusedResults):
    def __init__(self, watcher: Watcher) -> None:
        UnusedResults.__init__(self)
        super().__init__(watcher)
        self._waiting: dict[int, _Result] = {}
        self._places: dict[Place, Unused] = {}
        self._is_statement: dict[Place, bool] = {}

    def op(self, call: Call) -> None:
        waiting = self._waiting
        for origin in call.origins:
            waiting.pop(id(origin), None)
        result, place = call.result, call.place
        if type(result) is not torch.Tensor or place is None or call.name.endswith("_"):
            return
        if any(result is given for given in call.inputs) or call.kwargs.get("out") is not None:
            return
        if call.is_users and call.name not in _SIDE_EFFECTS and self._stands_alone(place):
            self._note_dropped(call, place)
        elif call.grad and len(waiting) < _WAITING and (result.requires_grad or _is_of_data(call, result)):
            found = self.watcher.tensor_history.known(result)
            if found is not None and found.kind == "op":
                waiting[id(found)] = _Result(result, found, self.watcher.step, call.is_users)
                self.made[place] = self.made.get(place, 0) + 1

    def _stands_alone(self, place: Place) -> bool:
        known = self._is_statement.get(place)
        if known is None:
            known = self._is_statement[place] = fate_of_call(place.site) == "dropped"
        return known

    def _note_dropped(self, call: Call, place: Place) -> None:
        """A tensor method whose result is thrown away. What was only made to be timed or looked at is left out."""
        origin = self.watcher.tensor_history.known(call.result)
        if call.name.startswith(("_", "assert")) or origin is None or not origin.inputs:
            return
        if call.name in CONTRACTIONS and not origin.tags & ~(CONSTANT | NOISE):
            return  # a device is warmed up
        known = next((one for one in self.dropped if one.place is place), None)
        if known is None and len(self.dropped) < _KEPT:
            known = Unused(place, origin)
            self.dropped.append(known)
        if known is not None:
            known.count += 1

    def module_done(self, visit: Visit, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        """What a module returns to the user's own code is theirs to use."""
        parent = visit.parent
        if len(visit.outputs) == 1 and (parent is None or parent.module.classes):
            waiting = self._waiting.get(id(visit.outputs[0]))
            if waiting is not None:
                waiting.is_own = True

    def root_done(self, visit: Visit, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        self.module_done(visit, module, args, kwargs, result)

    def backward(self, backward: Backward, roots: list[Any]) -> None:
        for root in roots:
            origin = self.watcher.tensor_history.known(root) if isinstance(root, torch.Tensor) else None
            self._waiting.pop(id(origin), None)

    def rest(self) -> None:
        """Operations are no longer followed: whatever is read from now on is not seen."""
        self._waiting.clear()

    def step_done(self, step: Step, optimizer: Any) -> None:
        if not step.backwards:
            return
        now = self.watcher.step
        gone = [one for one in self._waiting.values() if one.ref() is None]
        for one in gone:
            del self._waiting[id(one.origin)]
            if one.is_own:
                self._note(one.origin, step.index)
        for one in [one for one in self._waiting.values() if now - one.step > _WAITS]:
            del self._waiting[id(one.origin)]

    def _note(self, origin: Origin, step: int) -> None:
        place = origin.place
        known = None if place is None else self._places.get(place)
        if known is None:
            if place is None or len(self.all) >= _KEPT:
                return
            known = self._places[place] = Unused(place, origin)
            self.all.append(known)
        known.count += 1
        if known.last != step:
            known.last, known.steps = step, known.steps + 1
        if known.steps <= _STARVING_LOOKS:
            new = [one for one in self._starving(origin) if one not in known.starving]
            known.starving += new

    def _starving(self, origin: Origin) -> list[Any]:
        """The parameters behind it that an optimizer holds and that have no gradient now."""
        held = {id(p): p for made in self.watcher.optimizers.made for p in made.alive() if p.requires_grad}
        behind = {id(past) for past in origin.ancestors(_ANCESTORS)}
        known = self.watcher.tensor_history.known
        near = [p for p in held.values() if (found := known(p)) is not None and id(found) in behind]
        some = [p for p in near if p.grad is not None]
        with quietly():
            fed = {id(p) for p, found in zip(some, have_gradients(some), strict=True) if found}
        return [self.watcher.module_records.parameter(p) for p in near if id(p) not in fed]


def _is_of_data(call: Call, result: Any) -> bool:
    """A new version of the samples, made by the user's own code: noise added, scaled, masked."""
    if not call.is_users or call.name not in _TRANSFORMS or result.dim() < 2 or not result.is_floating_point():
        return False
    tags = 0
    for origin in call.origins:
        tags |= origin.tags
    return bool(tags & (DATA | HOST | NOISE)) and not tags & (OUTPUT | PARAMETER)
