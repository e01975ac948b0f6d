"""Steps: every `backward()`, every optimizer's step, and whether gradients were cleared between them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place

__all__ = ["Backward", "Step", "Steps"]

_KEPT = 4000


@record
class Backward:
    """One call of `backward()` (or `autograd.grad`, which gathers no gradients)."""

    __clocks__ = ("time",)

    __slots__ = (
        "accumulates", "create_graph", "far", "index", "leaf", "loss", "origin", "place", "requires_grad",
        "retain_graph", "shape", "step", "time",
    )  # fmt: skip

    def __init__(self, index: int, step: int, place: Place | None, time: float = 0.0) -> None:
        self.index = index
        self.step = step
        """How many optimizer steps had been taken before it."""
        self.place = place
        self.time = time
        self.accumulates = True
        self.loss: float | None = None
        """Its value: on a CPU, and on a device in the first steps."""
        self.far = False
        """It was computed on a device."""
        self.shape: tuple[int, ...] = ()
        self.leaf = False
        """It is a leaf: nothing was computed to make it, or its history was cut off."""
        self.requires_grad = True
        self.retain_graph = False
        self.create_graph = False
        self.origin: Origin | None = None
        """Where the loss comes from, when the trail was on."""


@record
class Step:
    """One step of one optimizer."""

    __clocks__ = ("time",)

    __slots__ = (
        "backwards", "empty", "index", "lagging", "looked", "lr", "optimizer", "own_norm", "place", "stale",
        "stale_norm", "thrown_away", "time", "without_grad", "zeroed",
    )  # fmt: skip

    def __init__(self, index: int, optimizer: int, place: Place | None, time: float = 0.0) -> None:
        self.index = index
        self.optimizer = optimizer
        """Which one: an index into `run.optimizers.made`."""
        self.place = place
        self.time = time
        self.backwards: list[Backward] = []
        """Those since this optimizer's step before."""
        self.stale = False
        """No gradient was cleared since this optimizer's step before, and there were some."""
        self.stale_norm: float | None = None
        self.own_norm: float | None = None
        self.zeroed = 0
        """How often gradients of this optimizer were cleared since its step before."""
        self.lr: float | None = None
        self.without_grad = 0
        """How many of its parameters have no gradient."""
        self.empty = False
        """None of its parameters has a gradient other than zero."""
        self.looked = False
        """Its gradients have been looked at: with a closure they are there once it has run."""
        self.lagging = False
        """A root module was called with gradients on since the last backward: that backward is still to come."""
        self.thrown_away = 0
        """How many backwards since its step before had their gradients cleared before this step."""


@table("steps")
@dataclass(eq=False)
class Steps:
    """`run.steps`"""

    backwards: deque[Backward] = field(default_factory=lambda: deque(maxlen=_KEPT))
    steps: deque[Step] = field(default_factory=lambda: deque(maxlen=_KEPT))
    backward_count: int = 0
    step_count: int = 0
    counts: dict[int, int] = field(default_factory=dict)
    """By the number of the optimizer: how many steps it has taken, those that were not looked at too."""

    def of_optimizer(self, number: int) -> list[Step]:
        return [step for step in self.steps if step.optimizer == number]

    def count_of(self, number: int) -> int:
        """How many steps an optimizer has taken."""
        return self.counts.get(number, 0)
