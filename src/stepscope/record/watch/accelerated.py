"""An Accelerator in a loop of the user's own: what it has prepared, and what steps without having been prepared."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.records.place import Place

__all__ = ["Accelerated"]


class Accelerated:
    """`run.trainer.accelerated`, once `accelerator.backward` was called. Told by whoever follows Accelerate."""

    def __init__(self) -> None:
        self.prepared_at: Place | None = None
        """The last `accelerator.prepare(...)`."""
        self.processes = 1
        self.precision = "no"
        """no, fp16, bf16 or fp8."""
        self.autocast_by_hand = False
        """`with accelerator.autocast()` is used: then a model need not be prepared for its precision."""
        self.steps = 0
        """Steps of optimizers it has not prepared, on parameters of a model that it has."""
        self.steps_scaled = 0
        """Of these: with gradients of a loss that it had scaled, as float16 needs."""
        self.steps_between = 0
        """Of these: in the middle of an accumulation."""
        self.batches = 1
        """How many batches it accumulates."""
        self.stepped_at: Place | None = None
        self.bare_model_at: Place | None = None
        """Where a prepared optimizer steps parameters of a model that was not prepared."""
