"""An Accelerator in the user's own loop: what it has prepared, and what steps without being prepared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record

if TYPE_CHECKING:
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class Accelerated:
    """`run.trainer.accelerated`, once `accelerator.backward` was called. Filled by the Accelerate integration."""

    prepared_at: Place | None = None
    """The last `accelerator.prepare(...)`."""
    processes: int = 1
    precision: str = "no"
    """no, fp16, bf16 or fp8."""
    autocast_by_hand: bool = False
    """Whether `with accelerator.autocast()` is used: a model then need not be prepared for its precision."""
    steps: int = 0
    """Steps of unprepared optimizers on parameters of a prepared model."""
    steps_scaled: int = 0
    """Of these: with gradients of a scaled loss, as in float16."""
    steps_between: int = 0
    """Of these: in the middle of an accumulation."""
    batches: int = 1
    """The number of batches it accumulates."""
    stepped_at: Place | None = None
    bare_model_at: Place | None = None
    """Where a prepared optimizer steps parameters of an unprepared model."""
