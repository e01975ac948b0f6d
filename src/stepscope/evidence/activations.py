"""Activations: units that are always zero, and saturating functions that are always at their limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class Activation:
    """One activation function in one layer, over the first calls with gradients enabled."""

    op: str
    place: Place | None
    path: str
    """The path of its module."""
    calls: int = 0
    idle: list[bool] | None = None
    """By unit: whether it was zero for every sample so far. Not a tensor: a script may count live tensors."""
    shares: list[float] = field(default_factory=list)
    """For each call: the fraction of values that are zero (relu), or at a limit (tanh, sigmoid)."""
    inside: bool = False
    """Another layer read its output, so it is not the model's output."""
    first_step: int = 0
    last_step: int = 0

    @property
    def dead(self) -> float:
        """The fraction of units that were always zero."""
        return sum(self.idle) / len(self.idle) if self.idle else 0.0


@table("activations")
@dataclass(eq=False)
class Activations:
    """`run.activations`"""

    all: dict[tuple[str, Place | None, str], Activation] = field(default_factory=dict)
    """By op, place and path."""
