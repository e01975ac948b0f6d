"""Global settings: repeated seeding, modes left on, loaders created in every pass, clipping of scaled gradients."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.loaders import Loader
    from stepscope.records.place import Place


@record
class Seeding:
    """One call that set the global random numbers."""

    __slots__ = ("batches", "callers", "place", "step", "trains", "value", "which")

    def __init__(self, which: str, value: int, place: Place | None, step: int, batches: int) -> None:
        self.which = which
        self.value = value
        self.place = place
        self.step = step
        self.batches = batches
        self.callers: list[Place] = []
        """The user's functions that called it, nearest first."""
        self.trains: bool | None = None
        """Whether the next model call after it had gradients; None: there was none yet."""


@record
@dataclass(eq=False)
class ScalerCall:
    """One call of a method of a gradient scaler."""

    name: str
    place: Place | None
    backwards: int
    """Number of backwards before it."""
    time: float


@record
class Scaling:
    """One gradient scaler: the order of its method calls."""

    __slots__ = ("calls", "enabled", "place", "scale")

    def __init__(self, place: Place | None, enabled: bool, scale: float | None) -> None:
        self.place = place
        self.enabled = enabled
        self.scale = scale
        self.calls: list[ScalerCall] = []
        """The first ones."""

    def last_before(self, moment: float) -> str:
        """The latest call before a moment: scale, unscale_, step or update."""
        return next((call.name for call in reversed(self.calls) if call.time < moment), "")


@record
class Rebuilt:
    """A line that creates a loader, over one dataset."""

    __slots__ = ("loaders", "place")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.loaders: list[Loader] = []
        """Those that have delivered a batch."""


@table("global_settings", version=3)
@dataclass(eq=False)
class GlobalSettings:
    """`run.global_settings`"""

    seeds: list[Seeding] = field(default_factory=list)
    seeded: int = 0
    anomaly_steps: int = 0
    """Number of observed optimizer steps with anomaly detection on."""
    looked_steps: int = 0
    anomaly: Place | None = None
    rebuilt: list[Rebuilt] = field(default_factory=list)
    scalers: list[Scaling] = field(default_factory=list)
