"""Retained graphs: what earlier steps left alive: graphs held by a running total, tensors in lists, hooks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import table

if TYPE_CHECKING:
    from stepscope.records.place import Place

__all__ = ["RetainedGraphs"]


@table("retained_graphs")
@dataclass(eq=False)
class RetainedGraphs:
    """`run.retained_graphs`"""

    dragged: dict[Place, set[int]] = field(default_factory=dict)
    """Where a line took up what it made in an earlier step, graph and all -> the steps in which it did."""
    alive: list[int] = field(default_factory=list)
    """After each step: how many tensors of earlier steps still hold their graph."""
    looked: int = 0
    """After the last step: how many earlier steps had a tensor that was looked at, so that it would be counted."""
    hooks: list[int] = field(default_factory=list)
    """After each step: how many hooks the models have."""
    registered: dict[Place, int] = field(default_factory=dict)
    """Where hooks were registered, how often."""
