"""The course of the training loss: where it began, how high it went, and its median over stretches of steps."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field

from stepscope.evidence.registry import table

_STRETCHES = 64
"""When there are this many, two and two become one, so that a long run keeps no more than a short one."""


@table("loss_course")
@dataclass(eq=False)
class LossCourse:
    """`run.loss_course`: of one loss per step; empty where several optimizers or losses take turns."""

    first: float | None = None
    highest: float = -math.inf
    count: int = 0
    medians: list[float] = field(default_factory=list)
    """One for each complete stretch."""
    stretch: int = 8
    """The number of losses in a stretch."""
    recent: list[float] = field(default_factory=list)
    """Losses of the stretch that is not complete yet."""

    def add(self, loss: float) -> None:
        if self.first is None:
            self.first = loss
        self.highest = max(self.highest, loss)
        self.count += 1
        self.recent.append(loss)
        if len(self.recent) < self.stretch:
            return
        self.medians.append(statistics.median(self.recent))
        self.recent = []
        if len(self.medians) >= _STRETCHES:
            pairs = zip(self.medians[::2], self.medians[1::2], strict=True)
            self.medians = [(first + second) / 2 for first, second in pairs]
            self.stretch *= 2

    @property
    def late(self) -> float | None:
        """The lowest median of the last third of the run; None before there is enough to speak of one."""
        third = len(self.medians) // 3
        return min(self.medians[-third:]) if third >= 2 else None

    def forget(self) -> None:
        """These were not the losses of one training."""
        self.first, self.highest, self.count = None, -math.inf, 0
        self.medians, self.recent = [], []
