"""Metrics: how predictions are turned into decisions (`argmax`, `> 0.5`), beside the loss that says what they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place

__all__ = ["Decision", "Metrics", "Picked"]


@record
@dataclass(eq=False)
class Decision:
    """One place where numbers are turned into decisions."""

    op: str
    place: Place | None
    maker: tuple[Any, ...]
    """What has computed the numbers: the op, its line, and the module it ran in."""
    origin: Origin
    count: int = 0
    threshold: float | None = None
    dim: int | None = None
    whole: bool = False
    """No axis was given: the largest of everything."""
    shape: tuple[int, ...] = ()
    leaves: bool = False
    """The numbers leave torch here, for numpy or Python: what becomes of them is in the source."""
    rearranged: bool = False
    """Axes were swapped, joined or picked from since the numbers were made."""
    outside: int = 0
    """How often there were values below 0 or above 1."""
    low: float = 0.0
    high: float = 0.0


@record
@dataclass(eq=False)
class Picked:
    """One place where rows of a model's output are picked by a mask or a list of numbers."""

    place: Place | None
    rows: int
    count: int


@table("metrics")
@dataclass(eq=False)
class Metrics:
    """`run.metrics`"""

    decisions: list[Decision] = field(default_factory=list)
    logits: dict[tuple[Any, ...], Place | None] = field(default_factory=dict)
    """Maker of numbers that a loss takes as logits of yes or no -> where the loss is."""
    classes: dict[tuple[Any, ...], tuple[int, int, int, Place | None]] = field(default_factory=dict)
    """Maker of the scores of classes -> (axes of the maker's result, axis of the classes, how many, the loss)."""
    ambiguous: set[tuple[Any, ...]] = field(default_factory=set)
    picked: list[Picked] = field(default_factory=list)
