"""Uint8 overflow: arithmetic on bytes that went below 0 or above 255 and wrapped around."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place


@record
class Overflow:
    """One line that computed with bytes and wrapped."""

    __slots__ = ("calls", "op", "place", "shape", "values", "wrapped")

    def __init__(self, op: str, place: Place | None, shape: tuple[int, ...]) -> None:
        self.op = op
        self.place = place
        self.shape = shape
        self.calls = 0
        self.wrapped = 0
        """Number of checked values that were wrong."""
        self.values = 0


@table("uint8_overflow")
@dataclass(eq=False)
class Uint8Overflows:
    """`run.uint8_overflow`"""

    found: dict[Place | None, Overflow] = field(default_factory=dict)
