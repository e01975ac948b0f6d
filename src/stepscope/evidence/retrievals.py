"""Retrievals: the nearest neighbor of every vector, looked for among the same vectors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place

__all__ = ["Retrieval", "Retrievals"]


@record
@dataclass(eq=False)
class Retrieval:
    """One line that picks the best column of each row of a square matrix of distances or similarities."""

    place: Place
    op: str
    rows: int
    product: Place | None
    """Where the vectors are compared with themselves."""
    looks: int = 0
    itself: int = 0
    """Looks in which the best of nearly every row was the row itself."""
    used: int = 0
    """How often what was picked, the row itself included, was compared or looked up."""


@table("retrievals")
@dataclass(eq=False)
class Retrievals:
    """`run[Retrievals]`"""

    all: list[Retrieval] = field(default_factory=list)
