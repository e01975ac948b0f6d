"""Repeated draws: new tensors with the same rows, given to a model for training at one step after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place

__all__ = ["RepeatedDraw", "RepeatedDraws"]


@record
@dataclass(eq=False)
class RepeatedDraw:
    """Rows that a class of models was trained on, made again each time."""

    model: str
    """The name of its class."""
    place: Place | None
    """Where it was first given them."""
    origin: Origin
    """Of the first tensor."""
    rows: int
    times: int = 1
    """Number of updates for which they were made again."""


@table("repeated_draws")
@dataclass(eq=False)
class RepeatedDraws:
    """`run[RepeatedDraws]`"""

    all: list[RepeatedDraw] = field(default_factory=list)
