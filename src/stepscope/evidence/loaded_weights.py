"""Loaded weights: which of the tensors that a model was given were filled again before anything used them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place

__all__ = ["LoadedWeights", "WeightsLoaded"]


@record
@dataclass(eq=False)
class WeightsLoaded:
    """One `load_state_dict()` of a module."""

    model: str
    """The name of its class."""
    place: Place | None = None
    given: int = 0
    """Number of its parameters that the state has."""
    refilled: int = 0
    """Number of those that were filled again (`uniform_`, `zeros_` ...) before the next update."""
    op: str = ""
    """What filled the last of them."""
    refilled_at: Place | None = None


@table("loaded_weights")
@dataclass(eq=False)
class LoadedWeights:
    """`run[LoadedWeights]`"""

    all: list[WeightsLoaded] = field(default_factory=list)
