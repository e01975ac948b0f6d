"""What the script calls the models it trains and the losses it calls backward on."""

from __future__ import annotations

import os
import sys
from typing import Any

from stepscope.launch.source_names import assigned_name, loss_name, makes_several_optimizers

__all__ = ["model_name", "term_name"]

_MOST_PARTS = 2


def term_name(place: str) -> str:
    """The loss of the `backward` at `path:line`, by its name in the source; else by its line."""
    path, _, line = place.rpartition(":")
    return loss_name(path, int(line)) or f"loss of {os.path.basename(path)}:{line}"


def model_name(optimizer: Any) -> str | None:
    """What the script calls the model whose weights the optimizer changes, where it has several optimizers.

    Global variables are asked first. Reading the locals of a function would keep the tensors among them alive: there it
    is the name that the model was assigned to in the source, or its class.
    """
    torch: Any = sys.modules["torch"]
    main = dict(vars(sys.modules["__main__"]))
    if "get_ipython" in main:
        return None  # a notebook's variables are those of all its cells
    wanted = {id(one) for group in optimizer.param_groups for one in group["params"]}
    optimizers = {id(one): name for name, one in main.items() if isinstance(one, torch.optim.Optimizer)}
    if len(optimizers) < 2 or id(optimizer) not in optimizers:
        return _name_in_source(wanted)
    sizes: list[tuple[int, str]] = []
    for name, one in main.items():
        if isinstance(one, torch.nn.Module) and not name.startswith("_"):
            own = _parameters(one)
            if own and wanted <= own:
                sizes.append((len(own), name))
    return min(sizes)[1] if sizes else optimizers[id(optimizer)]


def _parameters(module: Any) -> set[int]:
    return {id(one) for one in module.parameters()}


def _name_in_source(wanted: set[int]) -> str | None:
    from stepscope.record.construction import roots_made

    roots = roots_made()
    if not any(makes_several_optimizers(file) for file in {site.file for _, site in roots}):
        return None
    around = [(module, site) for module, site in roots if wanted <= _parameters(module)]
    if around:
        module, site = min(around, key=lambda one: len(_parameters(one[0])))
        return _part_name(module, wanted) or assigned_name(site.file, site.line) or type(module).__name__
    parts = [(module, site) for module, site in roots if (own := _parameters(module)) and own <= wanted]
    if not 0 < len(parts) <= _MOST_PARTS:
        return None
    return "+".join(assigned_name(site.file, site.line) or type(module).__name__ for module, site in parts)


def _part_name(module: Any, wanted: set[int]) -> str | None:
    """`generator`, of a module that holds both models and trains them with an optimizer each."""
    if _parameters(module) <= wanted:
        return None
    for name, child in module._modules.items():
        if child is not None and wanted <= _parameters(child):
            return str(name)
    return None
