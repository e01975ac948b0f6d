"""Follows optimizers: where each was made, over which parameters, and every time it clears gradients."""

from __future__ import annotations

import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

import torch

from stepscope.common import clocks
from stepscope.events import Installed
from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.optimizers import Made, Optimizers, Zeroing
from stepscope.record.observers.module_records import live
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import own_place
from stepscope.record.statistics import is_transformed

if TYPE_CHECKING:
    from stepscope.evidence.steps import Step
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

_KEPT = 4000
_KEEP = 4
_KEEP_BYTES = 64 * 2**20
"""Of the latest small optimizers the parameters are kept, so that rules can still look at them when all is over."""


class LiveMade(Made):
    """An optimizer that may still be there."""

    _ref: weakref.ref[Any]

    def ref(self) -> Any:
        """The optimizer itself; None when it is gone."""
        return self._ref()

    def alive(self) -> list[Any]:
        """Those of its parameters that are still there."""
        return [tensor for record in self.parameters if (tensor := live(record)) is not None]


class OptimizerObserver(Observer, Optimizers):
    made: list[LiveMade]  # type: ignore[assignment]

    def __init__(self, watcher: Watcher) -> None:
        Optimizers.__init__(self)
        super().__init__(watcher)
        self._kept: deque[Any] = deque(maxlen=_KEEP)
        self._numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self.last: tuple[Any, int] = (None, -1)
        """A weak reference to the one that was asked for last, and its number."""
        self._left: dict[int, tuple[Any, int, Any]] = {}
        self._zeroing = Installed(stays_in_parent=True)
        """The doors of `zero_grad`, while looking closely."""

    def install(self, installed: Installed) -> None:
        who = "following an optimizer"
        installed.after("torch.optim:Optimizer.__init__", who, self._made)
        installed.after("torch.optim:Optimizer.add_param_group", who, self._grew)

    def resume(self) -> None:
        self._zeroing.remove()
        self._zeroing.after("torch.optim:Optimizer.zero_grad", "following zero_grad", self._zeroed)
        self._zeroing.after("torch.nn:Module.zero_grad", "following zero_grad", self._module_zeroed)

    def rest(self) -> None:
        self._zeroing.remove()

    def finish(self) -> None:
        self._zeroing.remove()

    def number_of(self, optimizer: Any) -> int:
        last, number = self.last
        if last is not None and last() is optimizer:
            return number
        known = self._numbers.get(optimizer)
        number = self._add(optimizer, None) if known is None else known
        self.last = (weakref.ref(optimizer), number)
        return number

    def _made(self, frame: Any, result: Any, optimizer: Any, *args: Any, **kwargs: Any) -> None:
        if self.watcher.listens() and optimizer not in self._numbers:
            with quietly():
                self._add(optimizer, own_place(frame))

    def step_done(self, step: Step, optimizer: Any) -> None:
        """How the step left the first parameter: whether it is still so when another optimizer takes it over."""
        first = next((p for group in optimizer.param_groups for p in group["params"]), None)
        if first is not None:
            self._left[id(first)] = (weakref.ref(first), first._version, _glance(first))

    def _was_touched(self, parameters: list[Any]) -> bool:
        left = self._left.get(id(parameters[0])) if parameters else None
        if left is None or left[0]() is not parameters[0]:
            return False
        now = _glance(parameters[0])
        return bool(left[1] != parameters[0]._version or (now is not None and now != left[2]))

    def _add(self, optimizer: Any, place: Place | None) -> int:
        made = LiveMade(len(self.made), type(optimizer).__name__, place, self.watcher.step, self.watcher.batches)
        made._ref = weakref.ref(optimizer)
        made.defaults = {k: v for k, v in optimizer.defaults.items() if isinstance(v, (int, float, bool, tuple, str))}
        self.made.append(made)
        self._numbers[optimizer] = made.number
        self.watcher.governor.trains()
        self.watcher.governor.new("an optimizer", place)
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        made.touched = self._was_touched(parameters)
        if sum(p.numel() * p.element_size() for p in parameters) <= _KEEP_BYTES:
            # The optimizer's own lists: our own list would be one more reference to each weight.
            self._kept.append([group["params"] for group in optimizer.param_groups])
        self.watcher.steps.made(optimizer)
        self._grown(optimizer)
        return made.number

    def _grew(self, frame: Any, result: Any, optimizer: Any, *args: Any, **kwargs: Any) -> None:
        with quietly():
            self._grown(optimizer)

    def _grown(self, optimizer: Any) -> None:
        number = self._numbers.get(optimizer)
        if number is not None:
            parameter = self.watcher.module_records.parameter
            self.made[number].groups = len(optimizer.param_groups)
            self.made[number].parameters = [parameter(p) for group in optimizer.param_groups for p in group["params"]]

    def _zeroed(self, frame: Any, result: Any, optimizer: Any, *args: Any, **kwargs: Any) -> None:
        if self.watcher.governor.is_deep and self.watcher.listens():
            self._note(self.number_of(optimizer), frame)
            self.watcher.steps.cleared(optimizer)

    def _module_zeroed(self, frame: Any, result: Any, module: Any, *args: Any, **kwargs: Any) -> None:
        if not self.watcher.governor.is_deep or not self.watcher.listens():
            return
        self._note(None, frame)
        mine = {id(p) for p in module.parameters()}
        for made in self.made:
            optimizer = made.ref()
            if optimizer is not None and any(id(p) in mine for p in made.alive()):
                self.watcher.steps.cleared(optimizer)

    def _note(self, number: int | None, frame: Any) -> None:
        if len(self.zeroings) < _KEPT:
            count = self.watcher.steps.backward_count
            self.zeroings.append(Zeroing(number, own_place(frame), self.watcher.step, count, clocks.perf_counter()))


def _glance(parameter: Any) -> tuple[float, ...] | None:
    """A few of its values, where reading them costs nothing."""
    if parameter.device.type != "cpu" or parameter.layout is not torch.strided or not parameter.numel():
        return None
    if is_transformed(parameter):
        return None
    with quietly():
        size = parameter.numel()
        apart = max(1, size // 4)
        if parameter.is_contiguous():  # one call, at every step
            return tuple(raw.tolist(parameter.as_strided((min(4, size),), (apart,), parameter.storage_offset())))
        return tuple(raw.tolist(raw.detach(parameter).reshape(-1)[::apart][:4]))
