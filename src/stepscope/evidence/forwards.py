"""Forwards: calls of models in which something depends on train or eval mode, and what became of their results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.loaders import Loader
    from stepscope.evidence.modes import ModeCall
    from stepscope.evidence.modules import Module
    from stepscope.evidence.visits import Visit
    from stepscope.records.place import Place

__all__ = ["Forward", "Forwards", "MovingNorm"]


@record
class Forward:
    """One call of a root module."""

    __slots__ = (
        "backwards", "drawn", "droppers", "followed", "forced", "last_train", "led", "loader", "model", "module",
        "norms", "stage", "used", "visit",
    )  # fmt: skip

    def __init__(self, visit: Visit, backwards: int) -> None:
        self.visit = visit
        self.module = visit.module
        self.model = visit.type
        self.backwards = backwards
        """How many backwards had run before it."""
        self.droppers: list[str] = []
        """Layers that drop values at random now."""
        self.norms: list[str] = []
        """Layers that normalize with the statistics of the batch now."""
        self.loader: Loader | None = None
        """The loader that delivered last."""
        self.used = False
        """A later backward began at something computed from its result."""
        self.led = False
        """A backward was the next thing to happen."""
        self.followed = True
        """The trail was on: it would be known if a loss came of it."""
        self.drawn = False
        """Its inputs are random numbers drawn after training had begun: it samples."""
        self.last_train: ModeCall | None = None
        """The last `train()` or `eval()` on it or on what it is part of."""
        self.forced = False
        """Its class has a `train()` of its own."""
        self.stage: str | None = None
        """What the trainer was doing, where there is one."""

    @property
    def layers(self) -> list[str]:
        return [*self.droppers, *self.norms]


@record
class MovingNorm:
    """A batch norm that no optimizer trains, and whose statistics moved all the same: it was in training mode."""

    __slots__ = ("drift", "frozen", "learned", "mode", "module")

    def __init__(self, module: Module, mode: ModeCall, frozen: Module | None) -> None:
        self.module = module
        self.mode = mode
        """The call that had put it into training mode when batches went through it."""
        self.frozen = frozen
        """The largest part around it, inside what `train()` was called on, that was not trained then; None: it was."""
        self.learned = 0
        """How many batches its statistics had been learned from before."""
        self.drift = 0.0
        """How far its running mean has moved since, in its own standard deviations, on average over the channels."""


@table("forwards", version=3)
@dataclass(eq=False)
class Forwards:
    """`run.forwards`"""

    all: list[Forward] = field(default_factory=list)
    norm_batches: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """By batch norm layer, while training: (samples, values per channel) of the first batches."""
    moving_norms: list[MovingNorm] = field(default_factory=list)
    """Each once for every call that put it into training mode."""
    dropouts: dict[Place | None, tuple[str, Visit | None, list[bool]]] = field(default_factory=dict)
    """By place: a dropout function of the user's own code, and whether its module was in training mode."""
