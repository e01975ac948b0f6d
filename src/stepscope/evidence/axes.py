"""Axes: `view` and `reshape` where axes should have been swapped, so that rows get mixed up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.evidence.visits import Visit
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class Mixed:
    """One place where a reshape mixes axes."""

    op: str
    place: Place | None
    visit: Visit | None
    origin: Origin
    before: tuple[int, ...]
    after: tuple[int, ...]
    how: str
    count: int = 0
    result: Origin | None = None


@table("axes")
@dataclass(eq=False)
class Axes:
    """`run.axes`"""

    all: list[Mixed] = field(default_factory=list)
