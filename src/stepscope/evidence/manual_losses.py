"""Manual losses: losses written by hand, `(prediction - target) ** 2`, and the range of their targets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class ManualLoss:
    """A prediction minus a tensor of the same shape without a gradient."""

    place: Place
    prediction: Origin
    result: Origin | None
    low: float
    """The minimum and maximum of the subtracted values."""
    high: float


@table("manual_losses")
@dataclass(eq=False)
class ManualLosses:
    """`run.manual_losses`"""

    all: list[ManualLoss] = field(default_factory=list)
