"""Follows each learning-rate scheduler and every step it takes between the steps of its optimizer.

The steps themselves are not wrapped, since torch warns with the line of the caller: it is what they call inside that is
watched.
"""

from __future__ import annotations

import weakref
from functools import wraps
from typing import TYPE_CHECKING, Any

from torch.optim import lr_scheduler

from stepscope import fence
from stepscope.events import caller
from stepscope.evidence.schedulers import Scheduler, Schedulers, SchedulerStep
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import own_place
from stepscope.record.sites import place_at

if TYPE_CHECKING:
    from stepscope.events import Installed
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

_HOME = "torch.optim.lr_scheduler"
_KEPT = 4000
_TORCHS = lr_scheduler.__file__
_LOADING = (
    "LRScheduler", "LambdaLR", "MultiplicativeLR", "SequentialLR", "ChainedScheduler", "ReduceLROnPlateau",
)  # fmt: skip
_HORIZONS = ("T_max", "total_iters", "total_steps")


class SchedulerObserver(Observer, Schedulers):
    def __init__(self, watcher: Watcher) -> None:
        Schedulers.__init__(self)
        super().__init__(watcher)
        self._known: weakref.WeakKeyDictionary[Any, Scheduler] = weakref.WeakKeyDictionary()
        self._inside = 0

    def install(self, installed: Installed) -> None:
        for kind in ("LRScheduler", "SequentialLR", "ChainedScheduler", "ReduceLROnPlateau"):
            installed.wrap(f"{_HOME}:{kind}.__init__", self._watched_init)
        installed.before(f"{_HOME}:_enable_get_lr_call", "following a scheduler", self._stepped)
        for kind in filter(_loads_itself, _LOADING):
            installed.after(f"{_HOME}:{kind}.load_state_dict", "following a scheduler", self._loaded)
        for name in ("_is_better", "is_better"):
            installed.before(f"{_HOME}:ReduceLROnPlateau.{name}", "following a scheduler", self._judged)

    def _watched_init(self, make: Any) -> Any:
        observer = self

        @wraps(make)
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            observer._inside += 1
            try:
                make(self, *args, **kwargs)
            finally:
                observer._inside -= 1
            if not observer._inside:
                observer._made(self, caller())

        return __init__

    @fence.fenced("following a scheduler")
    def _made(self, scheduler: Any, frame: Any) -> None:
        if self.watcher.listens() and scheduler not in self._known:
            self._add(scheduler, own_place(frame))

    def _add(self, scheduler: Any, place: Place | None) -> Scheduler:
        optimizer = getattr(scheduler, "optimizer", None)
        number = -1 if optimizer is None else self.watcher.optimizers.number_of(optimizer)
        fact = self._known[scheduler] = Scheduler(type(scheduler).__name__, len(self.all), place, number)
        fact.made_at_step = self.watcher.step
        _describe(fact, scheduler)
        self.all.append(fact)
        return fact

    def _loaded(self, frame: Any, result: Any, scheduler: Any, *args: Any, **kwargs: Any) -> None:
        if self.watcher.listens():
            fact = self._known.get(scheduler) or self._add(scheduler, None)
            fact.restored = True

    def _stepped(self, frame: Any, scheduler: Any) -> None:
        if self._inside or not self.watcher.listens():
            return
        frame = caller()
        outer, inner = scheduler, frame
        while frame is not None and frame.f_code.co_filename == _TORCHS:
            if frame.f_code.co_name == "step":
                outer, inner = frame.f_locals.get("self", outer), frame
            frame = frame.f_back
        parts = getattr(outer, "_schedulers", ())
        if isinstance(outer, lr_scheduler.ChainedScheduler) and parts and parts[0] is not scheduler:
            return  # the others of a chain step in the same call
        step = self._note(outer, own_place(inner))
        given = inner.f_locals.get("epoch")
        step.explicit = given is not None and (type(outer).step is lr_scheduler.LRScheduler.step or given == 0)

    def _judged(self, frame: Any, scheduler: Any, metric: Any, best: Any = None) -> None:
        frame = caller()
        if self.watcher.listens() and frame.f_code.co_name == "step":
            step = self._note(scheduler, own_place(frame))
            step.metric, step.bad = _number(metric), int(scheduler.num_bad_epochs)

    def _note(self, scheduler: Any, place: Place | None) -> SchedulerStep:
        fact = self._known.get(scheduler) or self._add(scheduler, None)
        optimizer = fact.optimizer
        steps = 0 if optimizer < 0 else self.watcher.steps.count_of(optimizer)
        step = SchedulerStep(place, steps, self.watcher.steps.backward_count)
        groups = _groups(scheduler)
        step.lr = _number(groups[0].get("lr")) if groups else None
        fact.count += 1
        if len(fact.steps) < _KEPT:
            fact.steps.append(step)
        return step


def _describe(fact: Scheduler, scheduler: Any) -> None:
    began = getattr(scheduler, "last_epoch", None)
    fact.began = began if isinstance(began, int) else 0
    fact.base_lr = _number((getattr(scheduler, "base_lrs", None) or [None])[0])
    fact.first_lr = _number(_groups(scheduler)[0].get("lr")) if _groups(scheduler) else None
    given = (getattr(scheduler, name, None) for name in _HORIZONS)
    fact.horizon = next((value for value in given if isinstance(value, int)), None)
    mode, patience = getattr(scheduler, "mode", None), getattr(scheduler, "patience", None)
    fact.mode = mode if isinstance(mode, str) else None
    fact.patience = patience if isinstance(patience, int) else None
    codes = (getattr(function, "__code__", None) for function in getattr(scheduler, "lr_lambdas", ()))
    fact.functions = [place_at(code, 0) for code in codes if code is not None]


def _loads_itself(kind: str) -> bool:
    """Whether a class puts its state back in a way of its own, in this version of torch."""
    return "load_state_dict" in vars(getattr(lr_scheduler, kind, object))


def _groups(scheduler: Any) -> list[Any]:
    return getattr(getattr(scheduler, "optimizer", None), "param_groups", None) or []


def _number(value: Any) -> float | None:
    device = getattr(value, "device", None)
    if device is not None and getattr(device, "type", "cpu") != "cpu":
        return None  # asking would wait for the device
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        return None
