"""An Accelerator in a loop of the user's own: what it has prepared, and what steps without having been prepared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record

if TYPE_CHECKING:
    from stepscope.records.place import Place

__all__ = ["Accelerated"]


@record
@dataclass(eq=False)
class Accelerated:
    """`run.trainer.accelerated`, once `accelerator.backward` was called. Filled by whoever follows Accelerate."""

    prepared_at: Place | None = None
    """The last `accelerator.prepare(...)`."""
    processes: int = 1
    precision: str = "no"
    """no, fp16, bf16 or fp8."""
    autocast_by_hand: bool = False
    """`with accelerator.autocast()` is used: then a model need not be prepared for its precision."""
    steps: int = 0
    """Steps of optimizers it has not prepared, on parameters of a model that it has."""
    steps_scaled: int = 0
    """Of these: with gradients of a loss that it had scaled, as float16 needs."""
    steps_between: int = 0
    """Of these: in the middle of an accumulation."""
    batches: int = 1
    """How many batches it accumulates."""
    stepped_at: Place | None = None
    bare_model_at: Place | None = None
    """Where a prepared optimizer steps parameters of a model that was not prepared."""
