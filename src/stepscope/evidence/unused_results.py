"""Unused results: tensors that were computed in training and let go without anything having read them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.modules import Parameter
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place

__all__ = ["Unused", "UnusedResults"]


@record
@dataclass(eq=False)
class Unused:
    """What one place of the user's code computes for nothing."""

    place: Place
    origin: Origin
    """One of the results, with what it was computed from."""
    count: int = 0
    """How many results of this place were let go unread."""
    steps: int = 0
    """In how many optimizer steps."""
    last: int = -1
    """The last of those steps."""
    starving: list[Parameter] = field(default_factory=list)
    """Parameters it was computed from that an optimizer holds and that had no gradient then."""


@table("unused_results")
@dataclass(eq=False)
class UnusedResults:
    """`run.unused_results`"""

    all: list[Unused] = field(default_factory=list)
    """With gradients on: computed from something that is learned, or a new version of samples."""
    dropped: list[Unused] = field(default_factory=list)
    """Calls that are statements of their own, whose result is the only thing they have."""
    made: dict[Place, int] = field(default_factory=dict)
    """How many results each place of `all` has made while looked at closely."""
