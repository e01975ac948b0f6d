"""Interpolated labels: integers that were interpolated and truncated to integers again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class Resized:
    """One line that creates labels from interpolated values."""

    place: Place
    """Where the result becomes integer again."""
    interpolated: Place | None
    mode: str
    values: int
    """Number of distinct values before."""
    count: int = 0
    """Of masks."""


@table("interpolated_labels")
@dataclass(eq=False)
class InterpolatedLabels:
    """`run.interpolated_labels`"""

    all: list[Resized] = field(default_factory=list)
