"""Optimizers: where each was created, over which parameters, and every time it clears gradients."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.modules import Parameter
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class Made:
    """An optimizer."""

    number: int
    type: str
    place: Place | None = None
    """Where it was created."""
    step: int = 0
    """Number of optimizer steps before its creation."""
    batch: int = 0
    parameters: list[Parameter] = field(default_factory=list)
    touched: bool = False
    """Something has written to its parameters since the previous optimizer with them last stepped."""
    defaults: dict[str, Any] = field(default_factory=dict)
    groups: int = 1

    @property
    def maximizes(self) -> bool:
        """Whether its steps raise what was called backward on."""
        return bool(self.defaults.get("maximize"))

    def holds(self, parameter: Parameter) -> bool:
        return any(one is parameter for one in self.parameters)


@record
@dataclass(eq=False)
class Zeroing:
    """One call of `zero_grad`."""

    __clocks__ = ("time",)

    optimizer: int | None
    """Its optimizer; None for a module's."""
    place: Place | None
    step: int = 0
    backward: int = 0
    """Number of backwards before it."""
    time: float = 0.0


@table("optimizers")
@dataclass(eq=False)
class Optimizers:
    """`run.optimizers`"""

    made: list[Made] = field(default_factory=list)
    zeroings: list[Zeroing] = field(default_factory=list)

    @property
    def maximize(self) -> bool:
        """Whether any of them raises its objective, so that the sign of a loss says nothing."""
        return any(made.maximizes for made in self.made)

    def of(self, number: int) -> Made:
        return self.made[number]

    def holding(self, parameter: Parameter) -> list[Made]:
        """The optimizers with this parameter."""
        return [made for made in self.made if made.holds(parameter)]
