"""Averaged models: copies that follow a trained model by their weights and were evaluated with untouched statistics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place

__all__ = ["AveragedModel", "AveragedModels"]


@record
@dataclass(eq=False)
class AveragedModel:
    """A model whose batch norms never saw a batch, evaluated beside a trained one that it follows."""

    type: str
    place: Place | None
    """Where it was evaluated."""
    updated: Place
    """Where its weights were written."""
    layers: list[str] = field(default_factory=list)
    """Its batch norms."""
    batches: int = 0
    """How many batches those of the trained model have seen."""


@table("averaged_models")
@dataclass(eq=False)
class AveragedModels:
    """`run[AveragedModels]`"""

    all: list[AveragedModel] = field(default_factory=list)
