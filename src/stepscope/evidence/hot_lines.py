"""Where Python spent the time of a few steps: lines of the user's own, sampled once for a short while."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place

__all__ = ["HotLine", "HotLines"]


@record
@dataclass(eq=False)
class HotLine:
    """One line of the user's own, with the libraries it calls."""

    place: Place
    share: float
    """Of the time of the training thread."""
    phase: str
    """data, forward, backward, optimizer, or other: the rest of the loop."""
    below: str
    """The library function that this line had called most of the time: `PIL.Image.open`; empty where it is Python
    itself or a function written in C."""


@table("hot_lines")
@dataclass(eq=False)
class HotLines:
    """`run.hot_lines`"""

    all: list[HotLine] = field(default_factory=list)
    """Those with a twentieth of the time or more, largest first."""
    seconds: float = 0.0
    """How long was sampled."""
    steps: int = 0
    """Steps of the optimizer in that time."""
    load: float = 0.0
    """Of the time, what this process was computing: below 1 on a busy machine, or where it waits."""
