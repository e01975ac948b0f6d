"""Unused results: tensors that were computed in training and released without being read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.modules import Parameter
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class Unused:
    """What one place in the user's code computes for nothing."""

    place: Place
    origin: Origin
    """One of the results, with its inputs."""
    count: int = 0
    """Number of results of this place that were released unread."""
    steps: int = 0
    """Number of optimizer steps."""
    last: int = -1
    """The last of those steps."""
    starving: list[Parameter] = field(default_factory=list)
    """Parameters it was computed from that an optimizer has and that had no gradient then."""


@table("unused_results")
@dataclass(eq=False)
class UnusedResults:
    """`run.unused_results`"""

    all: list[Unused] = field(default_factory=list)
    """With gradients enabled: computed from something learned, or a new version of samples."""
    dropped: list[Unused] = field(default_factory=list)
    """Expression statements whose result is their only effect."""
    made: dict[Place, int] = field(default_factory=dict)
    """Number of results each place of `all` has produced while recorded in depth."""
