"""Batch positions: operations that give a sample another value at another place in the batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.visits import Visit
    from stepscope.records.step import Site


@record
@dataclass(eq=False)
class BatchPosition:
    """One operation that combines the samples of a batch with rows of a table, the first with the first and so on."""

    visit: Visit
    op: str
    site: Site
    rows: int
    """Samples in the batch."""
    steps: int
    """The size of the next axis of what it combined."""


@table("batch_positions")
@dataclass(eq=False)
class BatchPositions:
    """`run[BatchPositions]`"""

    all: list[BatchPosition] = field(default_factory=list)
