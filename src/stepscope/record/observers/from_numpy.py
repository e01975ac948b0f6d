"""Tensors made from numpy arrays. `from_numpy` is the one way into torch that no mode sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from stepscope.evidence.origins import HOST
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.origin import LiveOrigin
from stepscope.record.observers.own_frames import own_place

if TYPE_CHECKING:
    from stepscope.events import Installed


class FromNumpy(Observer):
    """Gives the tensors of `torch.from_numpy` an origin."""

    def install(self, installed: Installed) -> None:
        installed.after("torch:from_numpy", "following from_numpy", self._note)

    def _note(self, frame: Any, tensor: Any, ndarray: Any) -> None:
        trail = self.watcher.tensor_history
        if not trail.on or trail.paused or not self.watcher.listens():
            return
        with torch._C.DisableTorchFunction():
            origin = LiveOrigin("from_numpy", tensor, (), own_place(frame))
        origin.tags, origin.step, origin.index = HOST, self.watcher.step, trail.ops
        origin.visit = self.watcher.visits.innermost
        trail.note(tensor, origin)
