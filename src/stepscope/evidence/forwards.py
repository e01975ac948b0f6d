"""Forwards: model calls that depend on train or eval mode, and what happened to their results."""

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
        """Number of backwards before it."""
        self.droppers: list[str] = []
        """Layers that currently drop values."""
        self.norms: list[str] = []
        """Layers that currently normalize with batch statistics."""
        self.loader: Loader | None = None
        """The loader that delivered last."""
        self.used = False
        """A later backward started from something computed from its result."""
        self.led = False
        """A backward was the next event."""
        self.followed = True
        """Operations were traced, so a loss derived from it would be known."""
        self.drawn = False
        """Its inputs are random numbers drawn after training had started: it samples."""
        self.last_train: ModeCall | None = None
        """The last `train()` or `eval()` on it or a module that contains it."""
        self.forced = False
        """Its class overrides `train()`."""
        self.stage: str | None = None
        """The trainer's current stage, if there is a trainer."""

    @property
    def layers(self) -> list[str]:
        return [*self.droppers, *self.norms]


@record
class MovingNorm:
    """A batch norm that no optimizer trains but whose statistics changed: it was in training mode."""

    __slots__ = ("drift", "frozen", "learned", "mode", "module")

    def __init__(self, module: Module, mode: ModeCall, frozen: Module | None) -> None:
        self.module = module
        self.mode = mode
        """The call that had put it into training mode."""
        self.frozen = frozen
        """The largest untrained module around it, inside what `train()` was called on; None: it was trained."""
        self.learned = 0
        """Number of batches in its statistics before."""
        self.drift = 0.0
        """How far its running mean has moved since, in its own standard deviations, averaged over the channels."""


@table("forwards", version=3)
@dataclass(eq=False)
class Forwards:
    """`run.forwards`"""

    all: list[Forward] = field(default_factory=list)
    norm_batches: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """By batch norm layer, while training: (samples, values per channel) of the first batches."""
    moving_norms: list[MovingNorm] = field(default_factory=list)
    """Each once per call that put it into training mode."""
    dropouts: dict[Place | None, tuple[str, Visit | None, list[bool]]] = field(default_factory=dict)
    """By place: a dropout function of the user's own code, and whether its module was in training mode."""
