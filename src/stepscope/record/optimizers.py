"""Optimizers: their steps are a phase, and their state gets names."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from stepscope.events import subscribe
from stepscope.record.identity import is_tensor_type
from stepscope.record.sites import Spot, place_of

if TYPE_CHECKING:
    from stepscope.record.recorder import Recorder


class OptimizerHooks:
    """Listens to every optimizer's `step`."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.seen: list[str] = []
        self.place: Spot | None = None

    def install(self) -> None:
        subscription = subscribe("recording an optimizer", step_begins=self._begins, step_ends=self._ends)
        self._recorder.installed.add(subscription.remove)

    def _begins(self, optimizer: Any, args: Any, kwargs: Any, frame: Any) -> None:
        if self._recorder.listens():
            self.begin(type(optimizer).__name__, self.place_for(optimizer, frame))

    def place_for(self, optimizer: Any, frame: Any) -> Spot | None:
        """In torch's own optimizers no frame is the user's: all their ops come from the line that called `step`."""
        return place_of(frame) if type(optimizer).__module__.startswith("torch.") else None

    def begin(self, name: str, place: Spot | None) -> None:
        """A step begins."""
        if name not in self.seen:
            self.seen.append(name)
        self.place = place
        self._recorder.phases.optimizer_begins()

    def _ends(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self._recorder.listens():
            self.end()
            self.name_state(optimizer)

    def end(self) -> None:
        """It has ended."""
        self._recorder.phases.optimizer_ends()

    def name_state(self, optimizer: Any) -> None:
        """Call the state of a parameter by the parameter's name: `fc.weight/exp_avg`."""
        tensors = self._recorder.tensors
        known, names = tensors.entries, tensors.names
        for parameter, state in optimizer.state.items():
            if not isinstance(state, dict):
                continue
            named = names.get(id(parameter))
            owner = named[2][0] if named is not None and named[0]() is parameter and named[2] else "parameter"
            for key, value in state.items():
                entry = known.get(id(value))
                if entry is None or entry.ref() is not value:
                    if is_tensor_type(type(value)):  # read later, if at all
                        names[id(value)] = (weakref.ref(value), "state", (f"{owner}/{key}",))
                elif entry.name is None:
                    entry.kind, entry.name = "state", f"{owner}/{key}"
