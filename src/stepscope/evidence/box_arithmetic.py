"""Box arithmetic: areas and overlaps of boxes that came out of negative widths or heights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place

__all__ = ["BoxArea", "BoxArithmetic"]


@record
@dataclass(eq=False)
class BoxArea:
    """A product of widths and heights at one place."""

    kind: str
    """size: of boxes of the data, each from its own corners · overlap: of two boxes"""
    place: Place
    around: Place
    """Where the function of boxes was called."""
    looks: int = 0
    negative: float = 0.0
    """Of sizes: the share of negative ones. Of overlaps: the share of products of two negative lengths."""


@table("box_arithmetic")
@dataclass(eq=False)
class BoxArithmetic:
    """`run[BoxArithmetic]`"""

    all: list[BoxArea] = field(default_factory=list)
