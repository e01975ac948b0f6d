"""Contractions: weights normalized along one axis and then added up, or chosen from, along another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place

__all__ = ["Contractions", "Crossing"]


@record
@dataclass(eq=False)
class Crossing:
    """One place where the axis that is used is not the one that was normalized."""

    op: str
    place: Place | None
    made: Origin
    """The softmax or normalize."""
    axis: int
    """Along which it worked."""
    used: int
    """Along which its result is added up or chosen from, counted in its own axes."""
    how: str
    """product · sum · choice"""
    calls: int = 0
    sums: tuple[float, float] | None = None
    """The smallest and largest sum of the weights along the axis that is used; 1 where all is well."""


@table("contractions")
@dataclass(eq=False)
class Contractions:
    """`run.contractions`"""

    all: list[Crossing] = field(default_factory=list)
    first_axis: dict[Place | None, list[Origin]] = field(default_factory=dict)
    """What was normalized along its first axis inside a model, by place."""
