"""Weight updates: how far each optimizer step moves the weights, and how their norm changes over the run."""

from __future__ import annotations

from dataclasses import dataclass, field

from stepscope.evidence.registry import record, table


@record
@dataclass(eq=False)
class WeightUpdate:
    """The effect of one step on a sample of the weights."""

    step: int
    optimizer: int
    lr: float | None = None
    weight: float = 0.0
    """The norm of the sampled weights before it."""
    moved: float = 0.0
    """The norm of the change."""
    gradient: float = 0.0
    decay: float = 0.0
    """The norm of weight decay's part: the weights times their `weight_decay`."""
    stuck: float | None = None
    """The fraction of the sampled 16-bit values with a gradient that the step left unchanged."""

    @property
    def ratio(self) -> float:
        return self.moved / self.weight if self.weight > 0 else 0.0


@table("weight_updates", version=2)
@dataclass(eq=False)
class WeightUpdates:
    """`run.weight_updates`"""

    all: list[WeightUpdate] = field(default_factory=list)

    def of_optimizer(self, number: int) -> list[WeightUpdate]:
        return [one for one in self.all if one.optimizer == number]
