"""Who called `train()` and `eval()`, and who switched gradients off."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from stepscope import fence
from stepscope.events import caller
from stepscope.evidence.modes import LOOKED_BACK, ModeCall, Modes
from stepscope.record.observers.module_records import live
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import own_place

if TYPE_CHECKING:
    from stepscope.events import Installed
    from stepscope.record.observers.watcher import Watcher

_KEPT = 4000


class ModeObserver(Observer, Modes):
    def __init__(self, watcher: Watcher) -> None:
        Modes.__init__(self)
        super().__init__(watcher)
        self._depth = 0

    def install(self, installed: Installed) -> None:
        installed.wrap("torch.nn:Module.train", self._following)

    def _following(self, train: Any) -> Any:
        observer = self

        @wraps(train)
        def train_(self: Any, mode: bool = True) -> Any:
            if observer._depth or not observer.watcher.listens():
                return train(self, mode)
            observer._note("train", mode, caller(), self)
            observer._depth += 1
            try:
                return train(self, mode)
            finally:
                observer._depth -= 1

        return train_

    @fence.fenced("following train and eval")
    def _note(self, kind: str, on: bool, frame: Any, module: Any) -> None:
        place = own_place(frame)
        if not on:  # what is prepared for the evaluation comes before its first call of the model
            self.watcher.governor.new("an evaluation", ("eval", place))
        if len(self.calls) < _KEPT:
            call = ModeCall(kind, bool(on), place, self.watcher.step, self.watcher.module_records.of(module))
            call.backwards = self.watcher.steps.backward_count
            self.calls.append(call)

    def last_of(self, module: Any) -> ModeCall | None:
        """The latest `train()` or `eval()` on this module, or on one that it is part of."""
        for call in reversed(self.calls[-LOOKED_BACK:]):
            named = live(call.module)
            if named is module or (named is not None and any(part is module for part in named.modules())):
                return call
        return None
