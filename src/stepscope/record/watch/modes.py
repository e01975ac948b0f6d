"""Modes: who called `train()` and `eval()`, and who switched gradients off."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from stepscope import fence
from stepscope.events import caller
from stepscope.record.watch.places import own_place
from stepscope.record.watch.witness import Witness

if TYPE_CHECKING:
    from stepscope.events import Installed
    from stepscope.evidence.modules import Module
    from stepscope.record.watch.watcher import Watcher
    from stepscope.records.place import Place

__all__ = ["ModeCall", "Modes"]

_KEPT = 4000
_LOOKED_BACK = 40


class ModeCall:
    """One call of `train()` or `eval()` on a module, or of `set_grad_enabled`."""

    __slots__ = ("backwards", "kind", "module", "on", "place", "step", "visit")

    def __init__(self, kind: str, on: bool, place: Place | None, step: int, module: Module | None = None) -> None:
        self.kind = kind
        """train (with `on` False: `eval()`) · grad (set_grad_enabled as a function)"""
        self.on = on
        self.place = place
        self.step = step
        self.backwards = 0
        """How many backwards had run."""
        self.module: Module | None = module


class Modes(Witness):
    """`run.modes`"""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__(watcher)
        self.calls: list[ModeCall] = []
        self._depth = 0

    def install(self, installed: Installed) -> None:
        installed.wrap("torch.nn:Module.train", self._following)

    def _following(self, train: Any) -> Any:
        witness = self

        @wraps(train)
        def train_(self: Any, mode: bool = True) -> Any:
            if witness._depth or not witness.watcher.listens():
                return train(self, mode)
            witness._note("train", mode, caller(), self)
            witness._depth += 1
            try:
                return train(self, mode)
            finally:
                witness._depth -= 1

        return train_

    @fence.fenced("following train and eval")
    def _note(self, kind: str, on: bool, frame: Any, module: Any) -> None:
        if len(self.calls) < _KEPT:
            call = ModeCall(kind, bool(on), own_place(frame), self.watcher.step, self.watcher.nets.of(module))
            call.backwards = self.watcher.steps.backward_count
            self.calls.append(call)

    def last(self, module: Any, kind: str = "train") -> ModeCall | None:
        """The latest `train()`/`eval()` on this module, or on one that it is part of."""
        for call in reversed(self.calls[-_LOOKED_BACK:]):
            named = call.module.live if call.kind == kind and call.module is not None else None
            if named is module or (named is not None and any(part is module for part in named.modules())):
                return call
        return None
