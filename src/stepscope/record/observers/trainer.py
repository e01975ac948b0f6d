"""The trainer that runs the loop, where there is one: where in the user's own code it is when it does something."""

from __future__ import annotations

import dis
from types import CodeType
from typing import Any

from stepscope.evidence.trainer import Trainer
from stepscope.record.observers.own_frames import is_own, is_own_file
from stepscope.record.sites import place_at
from stepscope.records.place import Place


class TrainerObserver(Trainer):
    """Filled by whoever follows the trainer."""

    def place(self, place: Place | None) -> Place | None:
        """Of what the trainer did by itself (backward, the optimizer's step): where the user's code made it do so."""
        instead = self.evaluates if self.is_evaluating else self.works
        if instead is None or place is None:
            return place
        # In a process that the trainer has started there is no line of the user's around it.
        return instead if place is self.called or not is_own_file(place.file) else place


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
