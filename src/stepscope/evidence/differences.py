"""Differences: losses written by hand, `(prediction - target) ** 2`, and the range of their targets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place

__all__ = ["Difference", "Differences"]


@record
@dataclass(eq=False)
class Difference:
    """A prediction minus something that asks for no gradient, of the same shape."""

    place: Place
    prediction: Origin
    result: Origin | None
    low: float
    """The smallest and largest value of what is subtracted."""
    high: float


@table("differences")
@dataclass(eq=False)
class Differences:
    """`run.differences`"""

    all: list[Difference] = field(default_factory=list)
