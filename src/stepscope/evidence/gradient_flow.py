"""Gradient flow: which parameters no gradient reaches, where its path was cut, and its size from layer to layer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.modules import Parameter
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class Severed:
    """A parameter that a loss was computed from, and the op that blocks its gradient."""

    parameter: Parameter
    origin: Origin
    way: str
    """detach · no_grad · rebuilt (a new tensor of the same values) · host (through numpy or Python) · steps (an op
    without a derivative)"""
    backward: int = 0
    loss: Place | None = None


@table("gradient_flow")
@dataclass(eq=False)
class GradientFlow:
    """`run.gradient_flow`"""

    cuts: list[Severed] = field(default_factory=list)
    norms: dict[Parameter, list[float]] = field(default_factory=dict)
    """The size of a parameter's gradient relative to its weights, in the first backwards."""

    def norms_of(self, parameter: Parameter) -> list[float]:
        return self.norms.get(parameter, [])

    def cut_of(self, parameter: Parameter) -> list[Severed]:
        return [cut for cut in self.cuts if cut.parameter is parameter]
