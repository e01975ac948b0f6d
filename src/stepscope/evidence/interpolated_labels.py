"""Interpolated labels: whole numbers that were interpolated and cut off to whole numbers again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place

__all__ = ["InterpolatedLabels", "Resized"]


@record
@dataclass(eq=False)
class Resized:
    """One line that makes labels of what was interpolated."""

    place: Place
    """Where the result is made whole again."""
    interpolated: Place | None
    mode: str
    values: int
    """How many different numbers there were before."""
    count: int = 0
    """Of masks."""


@table("interpolated_labels")
@dataclass(eq=False)
class InterpolatedLabels:
    """`run.interpolated_labels`"""

    all: list[Resized] = field(default_factory=list)
