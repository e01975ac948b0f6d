"""Collectives: the calls of `torch.distributed` in which all ranks must join, in the order this one makes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place

__all__ = ["Collective", "Collectives"]


@record
class Collective:
    """One call."""

    __slots__ = ("batches", "name", "number", "place", "shape", "step")

    def __init__(self, number: int, name: str, shape: tuple[int, ...], place: Place | None) -> None:
        self.number = number
        self.name = name
        self.shape = shape
        self.place = place
        self.step = 0
        self.batches = 0
        """How many batches loaders had delivered."""


@table("collectives")
@dataclass(eq=False)
class Collectives:
    """`run.collectives`: the first calls over the group of all ranks, and how many there were."""

    calls: list[Collective] = field(default_factory=list)
    count: int = 0
    last_batches: int = -1
    """How many batches had been delivered at the last one."""
    exchanges_gradients: bool = False
    """A collective was called on gradients."""
