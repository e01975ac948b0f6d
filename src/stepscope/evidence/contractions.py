"""Contractions: weights normalized along one axis and then summed, or selected from, along another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class Crossing:
    """One place where the axis in use is not the normalized one."""

    op: str
    place: Place | None
    made: Origin
    """The softmax or normalize."""
    axis: int
    """The axis it worked along."""
    used: int
    """The axis along which its result is summed or selected from, counted in its own axes."""
    how: str
    """product · sum · choice"""
    calls: int = 0
    sums: tuple[float, float] | None = None
    """The minimum and maximum sum of the weights along the axis in use; 1 if correct."""


@table("contractions")
@dataclass(eq=False)
class Contractions:
    """`run.contractions`"""

    all: list[Crossing] = field(default_factory=list)
    first_axis: dict[Place | None, list[Origin]] = field(default_factory=dict)
    """Normalizations along the first axis inside a model, by place."""
