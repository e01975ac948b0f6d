"""Precision loss: fractions lost in a cast to integer, and constants that vanish in the dtype they are added to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class Truncation:
    """Values whose fractions were discarded."""

    kind: str
    """cast (float to integer) · floor (`//` of integers, all of whose results are 0)"""
    op: str
    place: Place | None
    lost: float = 0.0
    """The mean of the discarded fractions."""
    spread: float = 0.0
    """The standard deviation of the original values."""
    kinds: int = 1
    """Number of distinct values left."""


@record
@dataclass(eq=False)
class LostEps:
    """A constant that is 0 in the dtype of the tensor it was added to."""

    op: str
    place: Place | None
    eps: float
    dtype: str


@table("precision_loss")
@dataclass(eq=False)
class PrecisionLoss:
    """`run.precision_loss`"""

    lost_eps: list[LostEps] = field(default_factory=list)
    cuts: list[Origin] = field(default_factory=list)
    """Origins whose `spot` is a `Truncation`."""
