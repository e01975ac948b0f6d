"""Averaging: moving averages of weights, and how much of the new weights each update takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place

__all__ = ["Averaging", "MovingAverage"]


@record
@dataclass(eq=False)
class MovingAverage:
    """One line that mixes trained weights into an average of them."""

    place: Place
    keep: float
    """The factor of the average, in the first update."""
    lowest: float
    """The smallest and largest factor that the trained weights had."""
    highest: float
    count: int = 0


@table("averaging")
@dataclass(eq=False)
class Averaging:
    """`run.averaging`"""

    all: list[MovingAverage] = field(default_factory=list)
