"""Schedulers: each learning-rate scheduler, and every step it takes between the steps of its optimizer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place


@record
class SchedulerStep:
    """One call of a scheduler's `step()`."""

    __slots__ = ("backwards", "bad", "explicit", "lr", "metric", "place", "steps")

    def __init__(self, place: Place | None, steps: int, backwards: int) -> None:
        self.place = place
        self.steps = steps
        """Number of steps its optimizer had taken."""
        self.backwards = backwards
        """Number of backwards so far."""
        self.lr: float | None = None
        """The learning rate before it."""
        self.metric: float | None = None
        """The metric given to a plateau scheduler."""
        self.bad = 0
        """Its count of epochs without improvement before it."""
        self.explicit = False
        """The epoch was given: it sets the schedule instead of advancing it."""


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
        """Where it was created."""
        self.optimizer = optimizer
        """An index into `run.optimizers.made`."""
        self.steps: list[SchedulerStep] = []
        self.count = 0
        self.made_at_step = 0
        """Number of optimizer steps before its creation."""
        self.began = 0
        """Its own count at creation: more than 0 if it was resumed."""
        self.restored = False
        """A state was loaded into it."""
        self.base_lr: float | None = None
        self.first_lr: float | None = None
        """The learning rate after its creation."""
        self.horizon: int | None = None
        """The number of steps of the schedule, if it ends."""
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
