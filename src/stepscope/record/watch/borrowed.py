"""Borrowed: tensors made from numpy arrays. `from_numpy` is the one way into torch that no mode sees."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch

from stepscope import fence
from stepscope.record.watch.origin import HOST, Origin
from stepscope.record.watch.places import own_place
from stepscope.record.watch.witness import Witness

if TYPE_CHECKING:
    from stepscope.events import Installed

__all__ = ["Borrowed"]


class Borrowed(Witness):
    """Gives the tensors of `torch.from_numpy` an origin."""

    def install(self, installed: Installed) -> None:
        witness, borrow = self, torch.from_numpy

        def from_numpy(ndarray: Any) -> Any:
            tensor = borrow(ndarray)
            trail = witness.watcher.trail
            if trail.on and not trail.paused and witness.watcher.listens():
                witness._note(tensor, sys._getframe(1))
            return tensor

        from_numpy.__doc__ = borrow.__doc__
        from_numpy.__wrapped__ = borrow  # type: ignore[attr-defined]
        installed.patch(torch, "from_numpy", from_numpy)

    @fence.fenced("following from_numpy")
    def _note(self, tensor: Any, frame: Any) -> None:
        trail = self.watcher.trail
        with torch._C.DisableTorchFunction():
            origin = Origin("from_numpy", tensor, (), own_place(frame))
        origin.tags, origin.step, origin.index = HOST, self.watcher.step, trail.ops
        origin.visit = self.watcher.visits.innermost
        trail.note(tensor, origin)
