"""What the script calls the models it trains and the losses it calls backward on."""

from __future__ import annotations

import os
import sys
from typing import Any

from stepscope.launch.source_names import loss_name

__all__ = ["model_name", "term_name"]


def term_name(place: str) -> str:
    """The loss of the `backward` at `path:line`, by its name in the source; else by its line."""
    path, _, line = place.rpartition(":")
    return loss_name(path, int(line)) or f"loss of {os.path.basename(path)}:{line}"


def model_name(optimizer: Any) -> str | None:
    """The variable of the model whose weights the optimizer changes, where the script has several optimizers.

    Only global variables are looked at: reading the locals of a function would keep the tensors among them alive.
    """
    torch: Any = sys.modules["torch"]
    main = dict(vars(sys.modules["__main__"]))
    if "get_ipython" in main:
        return None  # a notebook's variables are those of all its cells
    optimizers = {id(one): name for name, one in main.items() if isinstance(one, torch.optim.Optimizer)}
    if len(optimizers) < 2 or id(optimizer) not in optimizers:
        return None
    wanted = {id(one) for group in optimizer.param_groups for one in group["params"]}
    sizes: list[tuple[int, str]] = []
    for name, one in main.items():
        if isinstance(one, torch.nn.Module) and not name.startswith("_"):
            own = {id(parameter) for parameter in one.parameters()}
            if own and wanted <= own:
                sizes.append((len(own), name))
    return min(sizes)[1] if sizes else optimizers[id(optimizer)]
