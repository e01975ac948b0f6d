"""Distributed: models wrapped for several ranks, and samplers that partition data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.loaders import Loader
    from stepscope.records.place import Place


@record
class ParallelModel:
    """One DistributedDataParallel."""

    __slots__ = ("around", "calls", "inner", "place", "size")

    def __init__(self, inner: str, place: Place | None, size: int) -> None:
        self.inner = inner
        """The class name of the wrapped model."""
        self.place = place
        self.size = size
        """The number of ranks."""
        self.calls = 0
        """How often it was itself called with gradients enabled."""
        self.around: list[Place | None] = []
        """Where the wrapped model (or a part of it) was called directly, with gradients enabled, and then trained."""


@record
class Sampler:
    """One DistributedSampler."""

    __slots__ = ("epochs", "made", "sets", "shuffles", "size")

    def __init__(self, place: Place | None, shuffles: bool, size: int) -> None:
        self.made = place
        self.shuffles = shuffles
        self.size = size
        """The number of ranks it partitions the data among."""
        self.epochs: list[int] = []
        """`epoch` at the beginning of each pass."""
        self.sets = 0
        """How often `set_epoch` was called."""


@table("distributed")
@dataclass(eq=False)
class Distributed:
    """`run.distributed`"""

    wraps: list[ParallelModel] = field(default_factory=list)
    samplers: list[Sampler] = field(default_factory=list)
    stale: dict[int, list[list[str]]] = field(default_factory=dict)
    """Optimizer -> for each of its first steps without any gradient, sharded parameters that have one."""
    size: int = 1
    """The number of ranks."""
    shared: dict[int, Sampler] = field(default_factory=dict)
    """Number of a loader -> its DistributedSampler."""
    last_batches: dict[int, int] = field(default_factory=dict)
    """Number of a loader -> the number of batches all loaders had delivered at its last."""

    def sampler_of(self, loader: Loader) -> Sampler | None:
        """The DistributedSampler of this loader, if any."""
        return self.shared.get(loader.number)

    def last_batch(self, loader: Loader) -> int:
        """The number of batches all loaders had delivered when this one delivered its last."""
        return self.last_batches.get(loader.number, 0)
