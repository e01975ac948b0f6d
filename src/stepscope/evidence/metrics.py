"""Metrics: how predictions become decisions (`argmax`, `> 0.5`), beside the loss that defines them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class Decision:
    """One place where numbers become decisions."""

    op: str
    place: Place | None
    maker: tuple[Any, ...]
    """What computed the numbers: the op, its line, and its module."""
    origin: Origin
    count: int = 0
    threshold: float | None = None
    dim: int | None = None
    whole: bool = False
    """No axis was given: the maximum over everything."""
    shape: tuple[int, ...] = ()
    leaves: bool = False
    """The numbers leave torch here, for numpy or Python: the source shows what happens to them."""
    rearranged: bool = False
    """Axes were swapped, merged or selected since the numbers were computed."""
    outside: int = 0
    """How often there were values below 0 or above 1."""
    low: float = 0.0
    high: float = 0.0


@record
@dataclass(eq=False)
class Picked:
    """One place where rows of a model's output are selected by a mask or indices."""

    place: Place | None
    rows: int
    count: int


@table("metrics")
@dataclass(eq=False)
class Metrics:
    """`run.metrics`"""

    decisions: list[Decision] = field(default_factory=list)
    logits: dict[tuple[Any, ...], Place | None] = field(default_factory=dict)
    """Producer of numbers that a loss treats as binary logits -> the loss's location."""
    classes: dict[tuple[Any, ...], tuple[int, int, int, Place | None]] = field(default_factory=dict)
    """Producer of class scores -> (axes of its result, class axis, number of classes, the loss)."""
    ambiguous: set[tuple[Any, ...]] = field(default_factory=set)
    picked: list[Picked] = field(default_factory=list)
