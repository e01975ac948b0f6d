"""The trainer that runs the loop, if any: its current stage, and where the user's own code is in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.accelerated import Accelerated
    from stepscope.records.place import Place

_MOST = 200
"""Values stored per callback: enough to show their direction."""


@record
class Monitored:
    """A trainer's callback that looks for the best value: early stopping, or checkpoint selection."""

    __slots__ = ("kind", "mode", "name", "place", "values")

    def __init__(self, kind: str, name: str, mode: str, place: Place | None) -> None:
        self.kind = kind
        """Its public name: EarlyStopping."""
        self.name = name
        """What is monitored: val_loss."""
        self.mode = mode
        """min or max: what it considers better."""
        self.place = place
        """Where the user's code creates it."""
        self.values: list[float] = []

    def saw(self, value: float) -> None:
        if len(self.values) < _MOST:
            self.values.append(value)


@table("trainer")
@dataclass(eq=False)
class Trainer:
    """`run.trainer`. Filled by the trainer's integration; unchanged for the user's own loop."""

    name: str | None = None
    """Its public name: Lightning."""
    stage: str | None = None
    """training, validation, test, prediction, sanity check, or none."""
    called: Place | None = None
    """Where the user's code calls the trainer: `trainer.fit(model)`."""
    works: Place | None = None
    """Where the user's code returns a loss to the trainer: the end of `training_step`."""
    evaluates: Place | None = None
    """The same for an evaluation: the end of `validation_step`."""
    output_and_loss: tuple[str, str, bool] | None = None
    """The activation of a model's last layer, the loss it was compiled with, whether that takes raw scores."""
    steps_itself: bool = False
    """It calls backward and the optimizer's step itself, with the given loss."""
    monitored: list[Monitored] = field(default_factory=list)
    """Its callbacks that look for the best value of something."""
    accelerated: Accelerated | None = None
    """The state of Accelerate in the user's own loop."""
    on_cpu: bool = False
    """The user has chosen the CPU: nothing must be moved to a device."""

    @property
    def is_evaluating(self) -> bool:
        return self.stage in ("validation", "test", "sanity check")
