"""Averaging: moving averages of weights, and the share of new weights in each update."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class MovingAverage:
    """One line that mixes trained weights into their average."""

    place: Place
    keep: float
    """The factor of the average, in the first update."""
    lowest: float
    """The minimum and maximum factor of the trained weights."""
    highest: float
    count: int = 0


@table("averaging")
@dataclass(eq=False)
class Averaging:
    """`run.averaging`"""

    all: list[MovingAverage] = field(default_factory=list)
