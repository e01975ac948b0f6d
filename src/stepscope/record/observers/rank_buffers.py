"""Buffers that each rank updates with its own data: nothing keeps them alike, though the parameters are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch

if TYPE_CHECKING:
    from stepscope.record.observers.watcher import Watcher

_MOST = 16
_BATCH_NORMS = (torch.nn.BatchNorm1d, torch.nn.BatchNorm2d, torch.nn.BatchNorm3d)
"""Not SyncBatchNorm, which computes over all ranks."""


class LocalBuffers(NamedTuple):
    """With the names of their layers, or their own."""

    batch_norms: list[tuple[str, Any]]
    others: list[tuple[str, Any]]

    @property
    def all(self) -> list[tuple[str, Any]]:
        return [*self.batch_norms, *self.others]


def unsynchronized(watcher: Watcher, wrapped: list[Any]) -> LocalBuffers:
    """Those of models that are trained together. `wrapped`: the models that are DistributedDataParallel."""
    models = [one.module for one in wrapped if not one.broadcast_buffers]
    if not wrapped and watcher.collectives.exchanges_gradients:
        models = [module for model in watcher.models.roots if (module := model.live()) is not None]
    found = LocalBuffers([], [])
    for model in models:
        for name, module in model.named_modules():
            if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
                if isinstance(module, _BATCH_NORMS) and module.training and module.running_mean is not None:
                    found.batch_norms.append((name, module.running_mean))
            elif module.training:
                found.others.extend(_saved_buffers(name, module))
    return LocalBuffers(found.batch_norms[:_MOST], found.others[:_MOST])


def _saved_buffers(prefix: str, module: torch.nn.Module) -> list[tuple[str, Any]]:
    """Its own buffers of real numbers that go into a checkpoint."""
    return [
        (f"{prefix}.{name}" if prefix else name, buffer)
        for name, buffer in module._buffers.items()
        if buffer is not None and buffer.is_floating_point() and name not in module._non_persistent_buffers_set
    ]
