"""Finds "copies" of weights that are the weights themselves: kept lists, moving averages, target networks.

A few times, when a model is evaluated or a window of close looking ends, the script's own variables are searched for
tensors over the memory of trained weights. Lines that write from a weight into a tensor kept since an earlier step are
followed as they run.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from stepscope.common.code_owner import is_own_file
from stepscope.common.ops import CASTS
from stepscope.evidence.weight_copies import KeptWeights, SelfUpdate, WeightCopies
from stepscope.record.identity import is_tensor_type
from stepscope.record.observers.module_records import live
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import is_own, locals_of

if TYPE_CHECKING:
    from stepscope.evidence.steps import Step
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher

__all__ = ["WeightCopyObserver"]

_SEARCHES = 10
_MOST, _DEEPEST, _LONGEST = 4000, 6, 200
_KEPT = 20
_RECENT = 8
_COPIES = 3
_IN_PLACE = frozenset({"mul_", "add_", "lerp_", "copy_"})
_SOURCES = CASTS | {"mul", "div"}


class WeightCopyObserver(Observer, WeightCopies):
    ops = frozenset({"add_", "lerp_", "copy_"})

    def __init__(self, watcher: Watcher) -> None:
        WeightCopies.__init__(self)
        super().__init__(watcher)
        self._searches = 0
        self._searched_at = 0

    # Lines that write into what was kept

    def op(self, call: Call) -> None:
        if call.place is None or not call.direct or len(call.inputs) != 2 or len(self.updates) >= _KEPT:
            return
        target, origin = call.inputs[0], call.origins[0]
        other = call.origins[1].back_through(_SOURCES)
        sides = (side.back_through(_IN_PLACE) for side in call.origins)
        kept = next((side for side in sides if side.op in CASTS and side.step < self.watcher.step), None)
        address = _address(target)
        if address is None or not self.watcher.step or "parameter" not in (origin.kind, other.kind):
            return
        if call.name == "copy_":
            own = address == _address(call.inputs[1])
        else:
            own = other.kind == "parameter" and self._is_at(other, address)
        found = next((one for one in self.updates if one.place is call.place), None)
        if found is None and own and kept is not None:
            found = SelfUpdate(call.name, call.place, kept.place)
            self.updates.append(found)
        if found is not None:
            found.own, found.other = found.own + own, found.other + (not own)

    def _is_at(self, origin: Any, address: Any) -> bool:
        known = self.watcher.tensor_history.known
        trained = (one for made in self.watcher.optimizers.made for one in made.alive())
        return any(_address(one) == address and known(one) is origin for one in trained)

    # What the script keeps

    def root_begins(self, visit: Visit, module: Any, args: Any, kwargs: Any) -> None:
        if not visit.grad and self.watcher.step > self._searched_at:
            self._search()

    def rest(self) -> None:
        self._search()

    def settle(self) -> None:
        if self.watcher.step > self._searched_at:
            self._search()

    def step_done(self, step: Step, optimizer: Any) -> None:
        """Models that were called lately: are two of them one?"""
        called = {id(visit.module): visit.module for visit in list(self.watcher.visits.roots)[-_RECENT:]}
        modules = [one for one in map(live, called.values()) if one is not None]
        modules = [one for one in modules if next(iter(one.parameters()), None) is not None]
        if len(modules) < 2:
            return
        networks: dict[tuple[Any, ...], Any] = {}
        for module in modules:
            addresses = tuple(map(_address, module.parameters()))
            if None in addresses:
                continue
            first = networks.setdefault(addresses, module)
            if first is not module and not _shares_objects(first, module):
                self.same_networks += 1

    def _search(self) -> None:
        trained = {_address(one) for made in self.watcher.optimizers.made for one in made.alive()} - {None}
        if self._searches >= _SEARCHES or not trained or not self.watcher.step:
            return
        self._searches, self._searched_at = self._searches + 1, self.watcher.step
        held: dict[tuple[str, str], dict[Any, set[int]]] = {}
        for file, name, tensor in _kept_tensors():
            address = _address(tensor)
            if address in trained and not isinstance(tensor, torch.nn.Parameter):
                held.setdefault((file, name), {}).setdefault(address, set()).add(id(tensor))
        for (file, name), weights in held.items():
            count = max(map(len, weights.values()))
            known = next((one for one in self.kept if (one.file, one.name) == (file, name)), None)
            if known is not None:
                known.count, known.step = max(known.count, count), self.watcher.step
            elif count >= _COPIES and len(self.kept) < _KEPT:
                self.kept.append(KeptWeights(name, file, count, self.watcher.step))


def _shares_objects(one: Any, other: Any) -> bool:
    mine = {id(parameter) for parameter in one.parameters()}
    return any(id(parameter) in mine for parameter in other.parameters())


def _address(tensor: Any) -> tuple[int, int] | None:
    """Where its numbers are; None where that says nothing."""
    if not is_tensor_type(type(tensor)) or tensor.layout is not torch.strided or tensor.device.type == "meta":
        return None
    try:
        return (tensor.data_ptr(), tensor.numel()) if tensor.numel() else None
    except RuntimeError:  # a wrapped tensor has no memory of its own
        return None


def _kept_tensors() -> Iterator[tuple[str, str, Any]]:
    """(file, name, tensor) of what the script's variables and the attributes of its objects hold in containers."""
    queue: deque[tuple[str, str, Any, int]] = deque()
    seen: set[int] = set()
    for file, variables in _variables():
        for name, value in list(variables.items()):
            if not name.startswith("__") and not is_tensor_type(type(value)):
                queue.append((file, name, value, 0))
    while queue and len(seen) < _MOST:
        file, name, value, depth = queue.popleft()
        if is_tensor_type(type(value)):
            yield file, name, value
            continue
        if id(value) in seen or depth > _DEEPEST:
            continue
        seen.add(id(value))
        if type(value) in (list, tuple, deque):
            parts = [(name, part) for part in list(value)[:_LONGEST]]
        elif isinstance(value, dict):
            parts = [(name, part) for part in list(value.values())[:_LONGEST]]
        elif _is_own_object(value):
            parts = [(f"{name}.{key}", part) for key, part in list(vars(value).items())]
        else:
            continue
        queue.extend((file, where, part, depth + 1) for where, part in parts if not _is_plain(part))


def _variables() -> Iterator[tuple[str, dict[str, Any]]]:
    frame: FrameType | None = sys._getframe(2)
    globals_seen = False
    while frame is not None:
        if is_own(frame.f_code):
            globals_seen = globals_seen or frame.f_code.co_name == "<module>"
            yield frame.f_code.co_filename, dict(locals_of(frame))
        frame = frame.f_back
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    if main is not None and file and not globals_seen and is_own_file(file):
        yield file, vars(main)


def _is_own_object(value: Any) -> bool:
    module = sys.modules.get(type(value).__module__)
    file = getattr(module, "__file__", None)
    return bool(file and is_own_file(file) and hasattr(value, "__dict__")) and not isinstance(
        value, (torch.nn.Module, type)
    )


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (str, bytes, int, float, bool))
