"""Norm statistics: evaluations with batch norms that have never seen a batch, in a copy of a model that was trained."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place

__all__ = ["NormStatistics", "UnsetNorms"]


@record
@dataclass(eq=False)
class UnsetNorms:
    """One evaluation."""

    model: str
    """The class of the model."""
    twin: str
    """The class of the trained model whose weights it has, or an average of them."""
    places: list[Place] = field(default_factory=list)
    """Where it was called, from the inside out."""
    layers: list[str] = field(default_factory=list)
    likeness: float = 0.0
    """The cosine between the largest weights of both."""
    written: Place | None = None
    """Where the script itself wrote its weights while training went on: a moving average."""
    copied: bool = False
    """It is an equal average (SWA), and its statistics are exactly those of the trained model."""


@table("norm_statistics", version=2)
@dataclass(eq=False)
class NormStatistics:
    """`run.norm_statistics`"""

    all: list[UnsetNorms] = field(default_factory=list)
    others: set[Place] = field(default_factory=set)
    """Places on the way to calls of models whose statistics are set."""
