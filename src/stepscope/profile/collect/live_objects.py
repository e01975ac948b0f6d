"""The models and optimizers that a process holds, found without having watched them being made."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any
from weakref import ref

if TYPE_CHECKING:
    import torch


class Alive:
    """The models and optimizers of now, held weakly: when the script drops one, it is gone."""

    def __init__(self) -> None:
        models, optimizers = live_models_and_optimizers()
        self._models: list[ref[Any]] = [ref(one) for one in models]
        self._optimizers: list[ref[Any]] = [ref(one) for one in optimizers]

    @property
    def models(self) -> list[Any]:
        return [one for weak in self._models if (one := weak()) is not None]

    @property
    def optimizers(self) -> list[Any]:
        return [one for weak in self._optimizers if (one := weak()) is not None]

    @property
    def are_all_here(self) -> bool:
        return all(weak() is not None for weak in [*self._models, *self._optimizers])


def live_models_and_optimizers() -> tuple[list[torch.nn.Module], list[torch.optim.Optimizer]]:
    """All modules that are in no other module, and all optimizers. Looks at every object once (about 0.1 us each).

    The kind is read from `type(object)`: `isinstance` would run the `__class__` of proxies, which may be anything.
    """
    import torch

    kinds: dict[type, int] = {}
    modules: list[torch.nn.Module] = []
    optimizers: list[torch.optim.Optimizer] = []
    for one in gc.get_objects():
        kind = type(one)
        which = kinds.get(kind)
        if which is None:
            which = 1 if issubclass(kind, torch.nn.Module) else 2 if issubclass(kind, torch.optim.Optimizer) else 0
            kinds[kind] = which
        if which == 1 and "_modules" in one.__dict__:
            modules.append(one)
        elif which == 2 and "param_groups" in one.__dict__:
            optimizers.append(one)
    inside = {id(child) for module in modules for child in module.__dict__["_modules"].values() if child is not None}
    return [module for module in modules if id(module) not in inside], optimizers
