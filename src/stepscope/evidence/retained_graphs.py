"""Retained graphs: what earlier steps left alive: graphs held by a running total, tensors in lists, hooks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import table

if TYPE_CHECKING:
    from stepscope.records.place import Place


@table("retained_graphs")
@dataclass(eq=False)
class RetainedGraphs:
    """`run.retained_graphs`"""

    dragged: dict[Place, set[int]] = field(default_factory=dict)
    """Where a line reused its own result from an earlier step, including the graph -> the steps in which it did."""
    alive: list[int] = field(default_factory=list)
    """After each step: the number of tensors of earlier steps that still have their graph."""
    looked: int = 0
    """After the last step: the number of earlier steps with an observed tensor, which would be counted."""
    hooks: list[int] = field(default_factory=list)
    """After each step: the number of hooks on the models."""
    registered: dict[Place, int] = field(default_factory=dict)
    """Where hooks were registered, how often."""
