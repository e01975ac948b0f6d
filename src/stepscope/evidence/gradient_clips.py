"""Gradient clips: each call that clips gradients, their state, and whether it came at the right time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place


@record
class GradientClip:
    """One call of `clip_grad_norm_` or `clip_grad_value_`."""

    __slots__ = ("after_step", "empty", "function", "limit", "parameters", "place", "step", "time", "without_grad")

    def __init__(self, function: str, place: Place | None, step: int, limit: float) -> None:
        self.function = function
        self.place = place
        self.step = step
        """Number of optimizer steps before it."""
        self.time = 0.0
        self.limit = limit
        self.parameters = 0
        """Number of parameters given."""
        self.without_grad = 0
        self.empty = False
        """There were parameters, and none had a nonzero gradient."""
        self.after_step = False
        """An optimizer with these parameters has stepped since the last backward."""


@table("gradient_clips")
@dataclass(eq=False)
class GradientClips:
    """`run.gradient_clips`"""

    all: list[GradientClip] = field(default_factory=list)
