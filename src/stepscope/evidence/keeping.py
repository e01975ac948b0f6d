"""Keeping: what of earlier steps is still there: graphs that a running total drags along, tensors in lists, hooks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import table

if TYPE_CHECKING:
    from stepscope.records.place import Place

__all__ = ["Keeping"]


@table("keeping")
@dataclass(eq=False)
class Keeping:
    """`run.keeping`"""

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
