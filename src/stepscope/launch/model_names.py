"""What the script calls the models it trains and the losses it calls backward on."""

from __future__ import annotations

import os
import sys
from collections.abc import Container, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

from stepscope.launch.source_names import assigned_name, loop_variables, loss_name, makes_several_optimizers

if TYPE_CHECKING:
    from torch.optim import Optimizer

_MOST_PARTS = 2
_MOST_ELEMENTS = 64


def term_name(place: str) -> str:
    """The loss of the `backward` at `path:line`, by its name in the source; else by its line."""
    path, _, line = place.rpartition(":")
    return loss_name(path, int(line)) or f"loss of {os.path.basename(path)}:{line}"


def model_name(optimizer: Optimizer) -> str | None:
    """What the script calls the model whose weights the optimizer changes, where it has several optimizers.

    Global variables are asked first. Reading the locals of a function would keep the tensors among them alive: there it
    is the name that the model was assigned to in the source, or its class.
    """
    torch: ModuleType = sys.modules["torch"]
    main = dict(vars(sys.modules["__main__"]))
    if "get_ipython" in main:
        return None  # a notebook's variables are those of all its cells
    wanted = {id(one) for group in optimizer.param_groups for one in group["params"]}
    things: list[tuple[str, Any]] = []
    for name, one in main.items():
        things += _with_elements(name, one, torch)
    modules = [(name, one) for name, one in things if isinstance(one, torch.nn.Module)]
    for name, one in modules:
        things += [(name, part) for part in vars(one).values()]
    optimizers = {id(one): name for name, one in things if isinstance(one, torch.optim.Optimizer)}
    if len(optimizers) < 2 or id(optimizer) not in optimizers:
        return _name_in_source(wanted)
    around = _smallest_around(wanted, modules, loop_variables(str(main.get("__file__"))))
    return around or optimizers[id(optimizer)]


def _smallest_around(wanted: set[int], modules: list[tuple[str, Any]], loops: Container[str]) -> str:
    """The smallest model with all these weights, by a name that stays; empty if none has."""
    found = []
    for name, one in modules:
        own = _parameters(one)
        if own and wanted <= own and not name.startswith("_"):
            found.append((len(own), name in loops, "." in name, name))
    return min(found)[-1] if found else ""


def model_places(optimizer: Optimizer) -> tuple[str, ...]:
    """Tells the model of an optimizer from others: where it was made, else by which global variables hold it."""
    from stepscope.record.construction import roots_made

    wanted = {id(one) for group in optimizer.param_groups for one in group["params"]}
    made = [(own, site) for module, site in roots_made() if (own := _parameters(module))]
    around = [(len(own), f"{site.file}:{site.line}") for own, site in made if wanted <= own]
    if around:
        return (min(around)[1],)
    parts = tuple(f"{site.file}:{site.line}" for own, site in made if own <= wanted)
    return parts or tuple(_global_names(wanted))


def _global_names(wanted: set[int]) -> Iterator[str]:
    torch: Any = sys.modules["torch"]
    for name, one in dict(vars(sys.modules["__main__"])).items():
        if isinstance(one, torch.nn.Module) and wanted <= _parameters(one):
            yield name


def _with_elements(name: str, value: Any, torch: ModuleType) -> Iterator[tuple[str, Any]]:
    """A global variable, and what it holds, where that is a list or dictionary of models or optimizers."""
    yield name, value
    if isinstance(value, torch.nn.ModuleList | torch.nn.ModuleDict):
        value = value._modules
    if isinstance(value, list | tuple) and len(value) <= _MOST_ELEMENTS:
        value = dict(enumerate(value))
    if isinstance(value, dict) and len(value) <= _MOST_ELEMENTS:
        for key, one in dict.items(value):
            if isinstance(key, str | int) and isinstance(one, torch.nn.Module | torch.optim.Optimizer):
                yield f"{name}.{key}", one


def _parameters(module: Any) -> set[int]:
    return {id(one) for one in module.parameters()}


def _name_in_source(wanted: set[int]) -> str | None:
    from stepscope.record.construction import roots_made

    roots = roots_made()
    if not any(map(makes_several_optimizers, {site.file for _, site in roots})):
        return None
    around = [(module, site) for module, site in roots if wanted <= _parameters(module)]
    if around:
        module, site = min(around, key=lambda one: len(_parameters(one[0])))
        return _part_name(module, wanted) or _assigned_or_class(module, site)
    parts = [(module, site) for module, site in roots if set() < _parameters(module) <= wanted]
    if not 0 < len(parts) <= _MOST_PARTS:
        return None
    return "+".join(_assigned_or_class(module, site) for module, site in parts)


def _assigned_or_class(module: Any, site: Any) -> str:
    return assigned_name(site.file, site.line) or type(module).__name__


def _part_name(module: Any, wanted: set[int]) -> str | None:
    """`generator`, of a module that holds both models and trains them with an optimizer each."""
    if _parameters(module) <= wanted:
        return None
    for name, child in module._modules.items():
        if child is not None and wanted <= _parameters(child):
            return str(name)
    return None
