"""Padded scores: comparisons of predictions with targets whose mean counts positions that the loss ignores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place

__all__ = ["PaddedScore", "PaddedScores"]


@record
@dataclass(eq=False)
class PaddedScore:
    """One line that takes the mean (or the sum) of such a comparison."""

    place: Place
    op: str
    ignored: int
    """The target that the loss ignores."""
    loss: Place | None
    looks: int = 0
    share: float = 0.0
    """The largest share of positions with this target."""
    right: float = 0.0
    """The largest share of all positions that have this target and count as right."""


@table("padded_scores")
@dataclass(eq=False)
class PaddedScores:
    """`run[PaddedScores]`"""

    all: list[PaddedScore] = field(default_factory=list)
