"""Weight copies: what a script keeps as earlier or averaged weights, although it is the memory of the live ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class KeptWeights:
    """A variable or attribute of the script in which several tensors are the memory of one trained weight."""

    name: str
    file: str
    count: int
    """How many of them are the same weight."""
    step: int


@record
@dataclass(eq=False)
class SelfUpdate:
    """A line that writes into a kept tensor what it computes from a weight, and both are the same memory."""

    op: str
    place: Place
    kept: Place | None
    """Where the kept tensor was taken from the weight, without a copy."""
    own: int = 0
    other: int = 0
    """How often the two were the same memory, and how often not."""


@table("weight_copies")
@dataclass(eq=False)
class WeightCopies:
    """`run[WeightCopies]`"""

    kept: list[KeptWeights] = field(default_factory=list)
    updates: list[SelfUpdate] = field(default_factory=list)
    same_networks: int = 0
    """After how many steps two models that are different objects had all their memory in common."""
