"""What memory holds at the end of a window (whose storage is where), and CUDA's own history of allocations."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

from stepscope import events
from stepscope.fence import fenced
from stepscope.profile.collect.live_objects import live_models_and_optimizers
from stepscope.profile.collect.module_names import module_paths
from stepscope.profile.memory.snapshot import MemorySnapshot, snapshot_of

if TYPE_CHECKING:
    import torch

Storages = dict[str, list[list[Any]]]


@fenced("noting where parameters and gradients are", default={})
def storages(
    models: Iterable[torch.nn.Module] | None = None, optimizers: Iterable[torch.optim.Optimizer] | None = None
) -> Storages:
    """Where parameters, buffers, gradients and optimizer state are: {category: [[address, bytes, name, device], ...]}.

    Goes into a profile's facts as `storages`, taken when the window ends. Reads addresses only: nothing is computed,
    copied or waited for. Without arguments all models and optimizers of the process are found.
    """
    if models is None or optimizers is None:
        found = live_models_and_optimizers()
        models = found[0] if models is None else models
        optimizers = found[1] if optimizers is None else optimizers
    seen: set[tuple[str, int]] = set()
    result: Storages = {}
    with events.quietly():  # asking a tensor must not run its own code, nor be seen by a mode of the script
        for category, name, tensor in _tensors(list(models), list(optimizers)):
            for device, address, size in _places(tensor):
                if (device, address) not in seen:
                    seen.add((device, address))
                    result.setdefault(category, []).append([address, size, name, device])
    return result


def _tensors(
    models: list[torch.nn.Module], optimizers: list[torch.optim.Optimizer]
) -> Iterator[tuple[str, str, torch.Tensor]]:
    """Every tensor that outlives a step, with its category and name."""
    names: dict[int, str] = {}
    roots = [root for root in models if root.__dict__.get("_modules") is not None]
    paths = module_paths(roots)
    for root in roots:
        for module in root.modules():
            _, path = paths[id(module)]
            yield from _of_module(module, f"{path}." if path else "", names)
    for optimizer in optimizers:
        yield from _of_optimizer(optimizer, names)


def _of_module(module: torch.nn.Module, prefix: str, names: dict[int, str]) -> Iterator[tuple[str, str, torch.Tensor]]:
    for key, parameter in module._parameters.items():
        if parameter is not None and id(parameter) not in names:
            names[id(parameter)] = prefix + key
            yield from _parameter(prefix + key, parameter)
    for key, buffer in module._buffers.items():
        if buffer is not None:
            yield "buffers", prefix + key, buffer


def _of_optimizer(optimizer: torch.optim.Optimizer, names: dict[int, str]) -> Iterator[tuple[str, str, torch.Tensor]]:
    """Its state, and the parameters that no model has."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if id(parameter) not in names:
                names[id(parameter)] = "?"
                yield from _parameter("?", parameter)
    for owner, state in optimizer.state.items():
        for key, value in state.items() if isinstance(state, dict) else ():
            if _is_tensor(value):
                yield "optimizer", f"{names.get(id(owner), '?')} {key}", value


def _parameter(name: str, parameter: torch.Tensor) -> Iterator[tuple[str, str, torch.Tensor]]:
    yield "parameters", name, parameter
    if parameter.is_leaf and parameter.grad is not None:  # .grad of anything else warns
        yield "gradients", name, parameter.grad


def _is_tensor(value: Any) -> bool:
    torch = sys.modules["torch"]
    return issubclass(type(value), torch.Tensor)


def _places(tensor: torch.Tensor) -> list[tuple[str, int, int]]:
    """(device, address, bytes) of each storage of a tensor; none for tensors without one (meta, lazy)."""
    local = getattr(tensor, "_local_tensor", None)  # a DTensor's own part
    if local is not None:
        return _places(local)
    if tensor.is_sparse:
        return [*_places(tensor._indices()), *_places(tensor._values())]
    if tensor.is_meta or tensor.layout is not sys.modules["torch"].strided:
        return []
    try:
        storage = tensor.untyped_storage()
        address, size = storage.data_ptr(), storage.nbytes()
    except (RuntimeError, NotImplementedError, ValueError):  # not materialized yet, or a subclass that keeps no storage
        return []
    return [(str(tensor.device), address, size)] if address and size else []


class CudaHistory:
    """CUDA's history of allocations between `begin` and `end`, with the Python stack of each.

    One that the user has switched on is left alone: `begin` would empty it. Then `end` gives None.
    """

    def __init__(self, most: int = 100_000) -> None:
        self.most = most
        self.on = False

    @fenced("switching on CUDA's memory history")
    def begin(self) -> None:
        torch = sys.modules.get("torch")
        if torch is None or not torch.cuda.is_initialized():
            return
        if _history_is_on(torch):
            return
        torch.cuda.memory._record_memory_history("all", context="alloc", stacks="python", max_entries=self.most)
        self.on = True

    @fenced("reading CUDA's memory history")
    def end(self) -> MemorySnapshot | None:
        """What was recorded, and the history off again."""
        if not self.on:
            return None
        torch = sys.modules["torch"]
        self.on = False
        try:
            return snapshot_of(torch.cuda.memory._snapshot(), most=self.most)
        finally:
            torch.cuda.memory._record_memory_history(None)


def _history_is_on(torch: ModuleType) -> bool:
    asks = getattr(torch._C, "_cuda_isHistoryEnabled", None)
    return bool(asks()) if asks is not None else False
