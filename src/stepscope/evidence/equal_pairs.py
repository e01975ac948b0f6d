"""Equal pairs: two results of a model that are compared with each other and are the same, row by row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place

__all__ = ["EqualPair", "EqualPairs"]


@record
@dataclass(eq=False)
class EqualPair:
    """One line that compares two batches of results, each computed with gradients from tensors of its own."""

    op: str
    place: Place
    first: Origin
    second: Origin
    looks: int = 0
    equal: int = 0
    """Looks in which at least nine rows in ten were the same."""


@table("equal_pairs")
@dataclass(eq=False)
class EqualPairs:
    """`run[EqualPairs]`"""

    all: list[EqualPair] = field(default_factory=list)
