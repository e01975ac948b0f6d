"""Loaders: every DataLoader, what it delivers, and how long the script waits for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place


@record
class Dataset:
    """The dataset of one loader or more."""

    __slots__ = ("methods", "number", "type")

    def __init__(self, number: int, type: str) -> None:
        self.number = number
        self.type = type
        """The name of its class."""
        self.methods: dict[str, Place] = {}
        """Which of `__getitem__` and `__iter__` are the user's own (of the dataset behind subsets of it)."""


@record
class Loader:
    """One DataLoader."""

    __slots__ = (
        "batch_size", "batches", "collate", "data", "dataset", "drop_last", "epochs", "finished", "iterated", "length",
        "made", "made_at_step", "number", "persistent", "sampler", "samples", "steady_batches", "steady_longest",
        "steady_turn_s", "steady_wait_cpu_s", "steady_wait_s", "told", "trains", "wait_s", "worker_init", "workers",
    )  # fmt: skip

    def __init__(self, number: int, place: Place | None, step: int) -> None:
        self.number = number
        self.made = place
        """Where it was created."""
        self.made_at_step = step
        self.iterated: Place | None = None
        """Where it is iterated."""
        self.epochs = 0
        """How often iteration started."""
        self.finished = 0
        """How often it was exhausted."""
        self.batches = 0
        self.wait_s = 0.0
        self.steady_batches = 0
        """Batches but the first two of each pass (workers start then), with the time waited for them and the whole
        time from one batch to the next."""
        self.steady_wait_s = 0.0
        self.steady_turn_s = 0.0
        self.steady_wait_cpu_s = 0.0
        """The part of the wait that this thread spent computing: on a busy machine waiting says little, work does."""
        self.steady_longest = (0.0, 0.0, 0.0)
        """Wait, iteration time and own work of the longest wait: one stall says nothing about the others."""
        self.told: str | None = None
        """The trainer's purpose for it when it was last iterated: training, validation, test."""
        self.trains = 0
        """Number of its batches followed by a backward before the next batch of any loader."""
        self.data: Dataset | None = None
        """None if it cannot be distinguished from others (a plain list)."""
        self.dataset = ""
        """The name of its dataset's class."""
        self.sampler = ""
        """The name of its sampler's class."""
        self.batch_size: int | None = None
        self.drop_last = False
        self.workers = 0
        self.persistent = False
        """Its workers persist between passes."""
        self.worker_init: Place | None = None
        """Where its `worker_init_fn` begins, if that is the user's own."""
        self.collate: Place | None = None
        """Where its `collate_fn` begins, if that is the user's own."""
        self.length: int | None = None
        """Its reported number of batches."""
        self.samples: int | None = None
        """Its dataset's reported number of samples."""

    @property
    def is_training(self) -> bool:
        return self.trains > 0

    def __repr__(self) -> str:
        return f"Loader({self.number}, {self.dataset})"


@table("loaders")
@dataclass(eq=False)
class Loaders:
    """`run.loaders`"""

    all: list[Loader] = field(default_factory=list)
    current: Loader | None = None
    """The loader that delivered last."""
    batches: int = 0
