"""Schedulers: each learning-rate scheduler, and every step it takes between the steps of its optimizer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place

__all__ = ["Scheduler", "SchedulerStep", "Schedulers"]


@record
class SchedulerStep:
    """One call of a scheduler's `step()`."""

    __slots__ = ("backwards", "bad", "explicit", "lr", "metric", "place", "steps")

    def __init__(self, place: Place | None, steps: int, backwards: int) -> None:
        self.place = place
        self.steps = steps
        """How many steps its optimizer had taken."""
        self.backwards = backwards
        """How many backwards had run."""
        self.lr: float | None = None
        """The learning rate before it."""
        self.metric: float | None = None
        """What a plateau scheduler was given."""
        self.bad = 0
        """Its count of epochs without improvement before it."""
        self.explicit = False
        """The epoch was given: it sets the schedule instead of moving it on."""


@record
class Scheduler:
    """One scheduler."""

    __slots__ = (
        "base_lr", "began", "count", "first_lr", "functions", "horizon", "made_at_step", "mode", "number", "optimizer",
        "patience", "place", "restored", "steps", "type",
    )  # fmt: skip

    def __init__(self, type: str, number: int, place: Place | None, optimizer: int) -> None:
        self.type = type
        """The name of its class."""
        self.number = number
        self.place = place
        """Where it was made."""
        self.optimizer = optimizer
        """An index into `run.optimizers.made`."""
        self.steps: list[SchedulerStep] = []
        self.count = 0
        self.made_at_step = 0
        """How many optimizer steps had been taken when it was made."""
        self.began = 0
        """Its own count when it was made: more than 0 where it was told to go on from somewhere."""
        self.restored = False
        """A state was loaded into it."""
        self.base_lr: float | None = None
        self.first_lr: float | None = None
        """The learning rate after it was made."""
        self.horizon: int | None = None
        """After how many steps the schedule is at its end, where it has one."""
        self.mode: str | None = None
        self.patience: int | None = None
        self.functions: list[Place] = []
        """Where the functions of a LambdaLR begin."""


@table("schedulers", version=2)
@dataclass(eq=False)
class Schedulers:
    """`run.schedulers`"""

    all: list[Scheduler] = field(default_factory=list)

    def of_optimizer(self, number: int) -> list[Scheduler]:
        return [fact for fact in self.all if fact.optimizer == number]
