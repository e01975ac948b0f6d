"""How large the gradient of each layer is, relative to its weights, in the order of the layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.evidence.models import Model
    from stepscope.evidence.modules import Module


@dataclass(frozen=True)
class LayerGradient:
    name: str
    module: Module
    sizes: list[float]
    """Norm of the gradient by norm of the weights, one for each backward looked at."""


def layer_gradients(run: Evidence, model: Model, enough: int) -> list[LayerGradient]:
    """The layers with a matrix of weights and at least that many gradients, the first layer first."""
    found = []
    for path, module in model.module.named_modules() if model.module.alive else ():
        for name, parameter in module.own.items():
            if len(parameter.shape) < 2 or not parameter.requires_grad:
                continue
            sizes = run.gradient_flow.norms_of(parameter)
            if len(sizes) >= enough:
                found.append(LayerGradient(f"{path}.{name}".lstrip("."), module, sizes))
    return found
