"""Norm statistics: evaluations with batch norms that have never seen a batch, in a copy of a trained model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class UnsetNorms:
    """One evaluation."""

    model: str
    """The class of the model."""
    twin: str
    """The class of the trained model whose weights, or their average, it has."""
    places: list[Place] = field(default_factory=list)
    """Where it was called, innermost first."""
    layers: list[str] = field(default_factory=list)
    likeness: float = 0.0
    """The cosine between the largest weights of both."""
    written: Place | None = None
    """Where the script itself wrote its weights during training: a moving average."""
    copied: bool = False
    """It is an equal average (SWA), with exactly the trained model's statistics."""


@table("norm_statistics", version=2)
@dataclass(eq=False)
class NormStatistics:
    """`run.norm_statistics`"""

    all: list[UnsetNorms] = field(default_factory=list)
    others: set[Place] = field(default_factory=set)
    """Call sites of models whose statistics are set."""
