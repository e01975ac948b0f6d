"""Moved points: pictures that a dataset flips at random, and numbers beside them that would have to change with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.loaders import Loader

__all__ = ["MovedPoints", "PointsMoved"]


@record
@dataclass(eq=False)
class MovedPoints:
    """One dataset of pictures and positions, asked several times for the same samples when the script was over."""

    loader: Loader
    left: int = 0
    """How often the picture was flipped and the numbers stayed."""
    together: int = 0
    """How often both changed."""
    move: str = ""
    numbers: int = 0
    """How many numbers belong to one picture."""
    explained: float = 0.0
    """Share of the variance of one of the numbers that the part of other pictures that a flip turns round tells."""


@table("moved_points")
@dataclass(eq=False)
class PointsMoved:
    """`run[PointsMoved]`"""

    all: list[MovedPoints] = field(default_factory=list)
