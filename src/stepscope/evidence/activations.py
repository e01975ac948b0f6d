"""Activations: units that are always zero, and squashing functions that are always at their ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place

__all__ = ["Activation", "Activations"]


@record
@dataclass(eq=False)
class Activation:
    """One activation function in one layer, over the first calls with gradients on."""

    op: str
    place: Place | None
    path: str
    """Of the module it runs in."""
    calls: int = 0
    idle: list[bool] | None = None
    """By unit: has it been zero for every sample so far? No tensor: a script may count those that are alive."""
    shares: list[float] = field(default_factory=list)
    """Of each call: the share of values that are zero (relu), or at an end (tanh, sigmoid)."""
    inside: bool = False
    """Another layer read what it made, so it is not an output."""
    first_step: int = 0
    last_step: int = 0

    @property
    def dead(self) -> float:
        """The share of units that were never anything but zero."""
        return sum(self.idle) / len(self.idle) if self.idle else 0.0


@table("activations")
@dataclass(eq=False)
class Activations:
    """`run.activations`"""

    all: dict[tuple[str, Place | None, str], Activation] = field(default_factory=dict)
    """By op, place and path."""
