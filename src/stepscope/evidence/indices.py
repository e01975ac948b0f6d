"""Indices: the first op with indices that are invalid on its device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.evidence.visits import Visit
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class OutOfRange:
    """An op with indices that are invalid on its device."""

    op: str
    low: float
    high: float
    size: int
    """Rows of the table, or classes; 1 for probabilities."""
    which: str
    """The argument: "ids", "index", "labels", "input" or "target"."""
    origin: Origin
    other: Origin | None
    """The scores the labels were compared with."""
    place: Place | None
    visit: Visit | None


@table("indices")
@dataclass(eq=False)
class Indices:
    """`run.indices`"""

    broken: OutOfRange | None = None
    """The first op that had to stop its device."""
