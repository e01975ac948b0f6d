"""The trainer that runs the loop, where there is one: what it is doing, and where the user's own code is in it."""

from __future__ import annotations

import dis
from types import CodeType
from typing import Any

from stepscope.evidence.accelerated import Accelerated
from stepscope.record.sites import place_at
from stepscope.record.watch.places import is_own, is_own_file
from stepscope.records.place import Place

__all__ = ["Monitored", "Trainer", "return_of"]

_MOST = 200
"""Values kept of one callback: which way they went is clear by then."""


class Monitored:
    """A callback of a trainer's that looks for the best value: early stopping, or the choice of a checkpoint."""

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


class Trainer:
    """`run.trainer`. Filled by whoever follows the trainer; a loop of the user's own leaves it as it is."""

    def __init__(self) -> None:
        self.name: str | None = None
        """As its users write it: Lightning."""
        self.stage: str | None = None
        """training, validation, test, prediction, sanity check, or none of them."""
        self.called: Place | None = None
        """Where the user's code hands over to the trainer: `trainer.fit(model)`."""
        self.works: Place | None = None
        """Where the user's code gives the trainer a loss: the end of `training_step`."""
        self.evaluates: Place | None = None
        """The same for an evaluation: the end of `validation_step`."""
        self.output_and_loss: tuple[str, str, bool] | None = None
        """The activation of a model's last layer, the loss it was compiled with, whether that takes raw scores."""
        self.steps_itself = False
        """It calls backward and the optimizer's step by itself, with the loss it is given."""
        self.monitored: list[Monitored] = []
        """Its callbacks that look for the best value of something."""
        self.accelerated: Accelerated | None = None
        """What is known of Accelerate in a loop of the user's own."""
        self.on_cpu = False
        """The user has chosen the CPU: then nothing has to be moved to a device."""

    def place(self, place: Place | None) -> Place | None:
        """Of what the trainer did by itself (backward, the optimizer's step): where the user's code made it do so."""
        instead = self.evaluates if self.is_evaluating else self.works
        if instead is None or place is None:
            return place
        # In a process that the trainer has started there is no line of the user's around it.
        return instead if place is self.called or not is_own_file(place.file) else place

    @property
    def is_evaluating(self) -> bool:
        return self.stage in ("validation", "test", "sanity check")


def return_of(function: Any) -> Place | None:
    """The last `return` of a function of the user's own.

    >>> def training_step(batch):
    ...     return batch
    >>> place = return_of(training_step)
    >>> place is None or place.function.endswith("training_step")
    True
    """
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType) or not is_own(code):
        return None
    offsets = [one.offset for one in dis.get_instructions(code) if one.opname.startswith("RETURN_")]
    offsets = [offset for offset in offsets if offset]  # RETURN_GENERATOR stands first
    return place_at(code, offsets[-1]) if offsets else None
