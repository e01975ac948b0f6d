"""Where Python spent the time of a few steps: the user's lines, sampled once for a short while."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class HotLine:
    """One of the user's lines, including the libraries it calls."""

    place: Place
    share: float
    """Fraction of the training thread's time."""
    phase: str
    """data, forward, backward, optimizer, or other: the rest of the loop."""
    below: str
    """The library function that this line had called most of the time: `PIL.Image.open`; empty for Python
    itself or a function written in C."""


@table("hot_lines")
@dataclass(eq=False)
class HotLines:
    """`run.hot_lines`"""

    all: list[HotLine] = field(default_factory=list)
    """Lines with at least a twentieth of the time, largest first."""
    seconds: float = 0.0
    """Duration of the sampling."""
    steps: int = 0
    """Optimizer steps in that time."""
    load: float = 0.0
    """Fraction of the time in which this process was computing: below 1 on a busy machine, or while waiting."""
