"""View pairs: which row of a similarity matrix a contrastive loss takes for the other view of each row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place

__all__ = ["ViewPair", "ViewPairs"]


@record
@dataclass(eq=False)
class ViewPair:
    """One cross entropy over the similarities of two views, one below the other, with themselves."""

    place: Place
    target: Origin
    joined: Place | None
    """Where the views are put together."""
    rows: int
    """Of one view."""
    looks: int = 0
    within: int = 0
    """Looks in which nearly every row was to find a row of its own view."""


@table("view_pairs")
@dataclass(eq=False)
class ViewPairs:
    """`run[ViewPairs]`"""

    all: list[ViewPair] = field(default_factory=list)
