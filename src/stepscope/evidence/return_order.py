"""Return order: discounted returns that a script computed from its rewards, and in which order they came out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class ReturnOrder:
    """A line at which returns and the rewards they were made of were seen side by side."""

    place: Place
    discount: float = 0.0
    right: int = 0
    """How often each return was its reward plus the discounted next return."""
    reversed: int = 0
    """How often the same numbers stood in the opposite order."""
    forward: int = 0
    """How often each was its reward plus the discounted return before it."""
    first: list[float] = field(default_factory=list)
    """The returns of one such episode, the first few."""


@table("return_order")
@dataclass(eq=False)
class ReturnOrders:
    """`run[ReturnOrders]`"""

    all: list[ReturnOrder] = field(default_factory=list)
