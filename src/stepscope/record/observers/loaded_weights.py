"""Follows whether weights that were loaded into a model are filled again before they are used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from stepscope.common.ops import INITIALIZERS
from stepscope.events import caller
from stepscope.evidence.loaded_weights import LoadedWeights, WeightsLoaded
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import own_place

if TYPE_CHECKING:
    from stepscope.events import Installed
    from stepscope.evidence.steps import Step
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher

__all__ = ["LoadedWeightObserver"]

_MOST = 40


class LoadedWeightObserver(Observer, LoadedWeights):
    ops: ClassVar[frozenset[str]] = INITIALIZERS - {"copy_"}

    def __init__(self, watcher: Watcher) -> None:
        LoadedWeights.__init__(self)
        super().__init__(watcher)
        self._loaded: dict[int, WeightsLoaded] = {}
        """By the address of each weight that was loaded and has not been used yet."""

    def install(self, installed: Installed) -> None:
        installed.after("torch.nn:Module.load_state_dict", "following loaded weights", self._after_loading)

    def _after_loading(self, frame: Any, result: Any, module: Any, given: Any, *args: Any, **kwargs: Any) -> None:
        if not self.watcher.listens() or not isinstance(given, Mapping) or len(self.all) >= _MOST:
            return
        mine = [weight for name, weight in module.named_parameters() if name in given and weight.numel()]
        loaded = WeightsLoaded(type(module).__name__, own_place(caller()), len(mine))
        self.all.append(loaded)
        self._loaded.update((weight.data_ptr(), loaded) for weight in mine)

    def op(self, call: Call) -> None:
        if not self._loaded or call.visit is not None or not call.inputs:
            return
        loaded = self._loaded.pop(call.inputs[0].data_ptr(), None)
        if loaded is not None:
            loaded.refilled += 1
            loaded.op, loaded.refilled_at = call.name, call.place

    def root_begins(self, visit: Visit, module: Any, args: Any, kwargs: Any) -> None:
        if self._loaded:
            for weight in module.parameters():
                self._loaded.pop(weight.data_ptr(), None)

    def step_done(self, step: Step, optimizer: Any) -> None:
        self._loaded.clear()

    def rest(self) -> None:
        self._loaded.clear()
