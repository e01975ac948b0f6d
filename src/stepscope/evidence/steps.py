"""Steps: every `backward()`, every optimizer step, and whether gradients were cleared between them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place

_KEPT = 4000


@record
class Backward:
    """One call of `backward()` (or `autograd.grad`, which accumulates no gradients)."""

    __clocks__ = ("time",)

    __slots__ = (
        "accumulates", "create_graph", "far", "index", "leaf", "loss", "origin", "place", "requires_grad",
        "retain_graph", "shape", "step", "time",
    )  # fmt: skip

    def __init__(self, index: int, step: int, place: Place | None, time: float = 0.0) -> None:
        self.index = index
        self.step = step
        """Number of steps before it."""
        self.place = place
        self.time = time
        self.accumulates = True
        self.loss: float | None = None
        """Its value: on a CPU, and on a device in the first steps."""
        self.far = False
        """It was computed on a device."""
        self.shape: tuple[int, ...] = ()
        self.leaf = False
        """It is a leaf: nothing was computed, or its history was cut off."""
        self.requires_grad = True
        self.retain_graph = False
        self.create_graph = False
        self.origin: Origin | None = None
        """The origin of the loss, if operations were traced."""


@record
class Step:
    """One update by one optimizer; where several step after one backward, their updates are of one step."""

    __clocks__ = ("time",)

    __slots__ = (
        "backwards", "empty", "index", "lagging", "looked", "lr", "optimizer", "own_norm", "place", "stale",
        "stale_norm", "thrown_away", "time", "without_grad", "zeroed",
    )  # fmt: skip

    def __init__(self, index: int, optimizer: int, place: Place | None, time: float = 0.0) -> None:
        self.index = index
        """The number of the step, from 0."""
        self.optimizer = optimizer
        """Which one: an index into `run.optimizers.made`."""
        self.place = place
        self.time = time
        self.backwards: list[Backward] = []
        """Those since this optimizer's previous step."""
        self.stale = False
        """No gradient was cleared since this optimizer's previous step, and there were some."""
        self.stale_norm: float | None = None
        self.own_norm: float | None = None
        self.zeroed = 0
        """How often this optimizer's gradients were cleared since its previous step."""
        self.lr: float | None = None
        self.without_grad = 0
        """Number of its parameters without a gradient."""
        self.empty = False
        """None of its parameters has a nonzero gradient."""
        self.looked = False
        """Its gradients have been checked: with a closure they exist once it has run."""
        self.lagging = False
        """A root module was called with gradients enabled since the last backward: that backward is still to come."""
        self.thrown_away = 0
        """Number of backwards since its previous step whose gradients were cleared before this step."""


@table("steps")
@dataclass(eq=False)
class Steps:
    """`run.steps`"""

    backwards: deque[Backward] = field(default_factory=lambda: deque(maxlen=_KEPT))
    steps: deque[Step] = field(default_factory=lambda: deque(maxlen=_KEPT))
    backward_count: int = 0
    step_count: int = 0
    counts: dict[int, int] = field(default_factory=dict)
    """By the number of the optimizer: the number of its steps, including unobserved ones."""

    def of_optimizer(self, number: int) -> list[Step]:
        return [step for step in self.steps if step.optimizer == number]

    def count_of(self, number: int) -> int:
        """The number of steps of an optimizer."""
        return self.counts.get(number, 0)
