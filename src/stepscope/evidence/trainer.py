"""The trainer that runs the loop, where there is one: what it is doing, and where the user's own code is in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.accelerated import Accelerated
    from stepscope.records.place import Place

__all__ = ["Monitored", "Trainer"]

_MOST = 200
"""Values kept of one callback: which way they went is clear by then."""


@record
class Monitored:
    """A callback of a trainer's that looks for the best value: early stopping, or the choice of a checkpoint."""

    __slots__ = ("kind", "mode", "name", "place", "values")

    def __init__(self, kind: str, name: str, mode: str, place: Place | None) -> None:
        self.kind = kind
        """As its users write it: EarlyStopping."""
        self.name = name
        """What is monitored: val_loss."""
        self.mode = mode
        """min or max: what it takes as better."""
        self.place = place
        """Where the user's code makes it."""
        self.values: list[float] = []

    def saw(self, value: float) -> None:
        if len(self.values) < _MOST:
            self.values.append(value)


@table("trainer")
@dataclass(eq=False)
class Trainer:
    """`run.trainer`. Filled by whoever follows the trainer; a loop of the user's own leaves it as it is."""

    name: str | None = None
    """As its users write it: Lightning."""
    stage: str | None = None
    """training, validation, test, prediction, sanity check, or none of them."""
    called: Place | None = None
    """Where the user's code hands over to the trainer: `trainer.fit(model)`."""
    works: Place | None = None
    """Where the user's code gives the trainer a loss: the end of `training_step`."""
    evaluates: Place | None = None
    """The same for an evaluation: the end of `validation_step`."""
    output_and_loss: tuple[str, str, bool] | None = None
    """The activation of a model's last layer, the loss it was compiled with, whether that takes raw scores."""
    steps_itself: bool = False
    """It calls backward and the optimizer's step by itself, with the loss it is given."""
    monitored: list[Monitored] = field(default_factory=list)
    """Its callbacks that look for the best value of something."""
    accelerated: Accelerated | None = None
    """What is known of Accelerate in a loop of the user's own."""
    on_cpu: bool = False
    """The user has chosen the CPU: then nothing has to be moved to a device."""

    @property
    def is_evaluating(self) -> bool:
        return self.stage in ("validation", "test", "sanity check")
