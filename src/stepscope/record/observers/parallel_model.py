"""A model in DistributedDataParallel, as far as its wrapper decides which gradients are averaged."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import torch.distributed as dist

from stepscope.evidence.distributed import ParallelModel

if TYPE_CHECKING:
    from stepscope.records.place import Place


class LiveParallelModel(ParallelModel):
    """While the wrapper is there."""

    __slots__ = ("_is_unsynced", "_ref", "frozen", "unsynced", "unsynced_place")

    def __init__(self, wrapper: Any, place: Place | None) -> None:
        size = dist.get_world_size() if dist.is_initialized() else 1
        super().__init__(type(wrapper.module).__name__, place, size)
        self._ref = weakref.ref(wrapper)
        self.frozen = frozenset(name for name, p in wrapper.module.named_parameters() if not p.requires_grad)
        """Parameters that did not require gradients when it was wrapped."""
        self.unsynced = 0
        """How many steps used gradients whose last backward pass was inside `no_sync()`."""
        self.unsynced_place: Place | None = None
        self._is_unsynced = False

    def backward(self, place: Place | None) -> None:
        """Does this pass leave the gradients as they are on this rank?"""
        wrapper = self._ref()
        # The first is how the forward pass has found it, which decides; it is False after one without gradients, too.
        self._is_unsynced = wrapper is not None and not (
            wrapper.require_forward_param_sync or wrapper.require_backward_grad_sync
        )
        if self._is_unsynced:
            self.unsynced_place = place

    def step(self, optimizer: Any) -> None:
        """Are its gradients used as they are?"""
        if self._is_unsynced and (wrapper := self._ref()) is not None:
            own = {id(p) for p in wrapper.module.parameters()}
            self.unsynced += any(id(p) in own for group in optimizer.param_groups for p in group["params"])

    @property
    def live(self) -> Any:
        """The wrapper itself; None when it is gone."""
        return self._ref()
