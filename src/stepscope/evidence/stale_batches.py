"""Stale batches: loops over a loader in which a model is given the same batch of another loader each time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.loaders import Loader
    from stepscope.records.place import Place

__all__ = ["StaleBatch", "StaleBatches"]


@record
@dataclass(eq=False)
class StaleBatch:
    """One line that calls a model in such a loop."""

    place: Place
    loader: Loader
    """The one that the loop goes over."""
    given: Loader
    """The one whose batch the model gets."""
    batches: int = 0
    """In how many turns of the loop the model got the same batch as in the turn before, and none of the loop's own."""


@table("stale_batches")
@dataclass(eq=False)
class StaleBatches:
    """`run[StaleBatches]`"""

    all: list[StaleBatch] = field(default_factory=list)
