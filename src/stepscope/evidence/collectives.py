"""Collectives: the `torch.distributed` calls that all ranks must join, in this rank's order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place


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
        """Number of batches that loaders had delivered."""


@table("collectives")
@dataclass(eq=False)
class Collectives:
    """`run.collectives`: the first calls over the group of all ranks, and their number."""

    calls: list[Collective] = field(default_factory=list)
    count: int = 0
    last_batches: int = -1
    """Number of batches delivered at the last one."""
    exchanges_gradients: bool = False
    """A collective was called on gradients."""
