"""Loaders: every DataLoader, what it delivers, and how long the script waits for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place

__all__ = ["Dataset", "Loader", "Loaders"]


@record
class Dataset:
    """The dataset of one loader or more."""

    __slots__ = ("methods", "number", "type")

    def __init__(self, number: int, type: str) -> None:
        self.number = number
        self.type = type
        """The name of its class."""
        self.methods: dict[str, Place] = {}
        """Of `__getitem__` and `__iter__` those that are the user's own (of the dataset behind subsets of it)."""


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
        """Where it was made."""
        self.made_at_step = step
        self.iterated: Place | None = None
        """Where it is looped over."""
        self.epochs = 0
        """How often iteration began."""
        self.finished = 0
        """How often it ended by itself."""
        self.batches = 0
        self.wait_s = 0.0
        self.steady_batches = 0
        """Batches but the first two of each pass (workers start then), with the time waited for them and the whole
        time from one batch to the next."""
        self.steady_wait_s = 0.0
        self.steady_turn_s = 0.0
        self.steady_wait_cpu_s = 0.0
        """Of the wait, what this thread has computed itself: on a busy machine a wait says little, work does."""
        self.steady_longest = (0.0, 0.0, 0.0)
        """Wait, turn and own work of the batch waited for longest: one stall says nothing of the others."""
        self.told: str | None = None
        """What a trainer said it was for when it was last looped over: training, validation, test."""
        self.trains = 0
        """How many of its batches were followed by a backward before the next batch of any loader."""
        self.data: Dataset | None = None
        """None where it cannot be told from others (a plain list)."""
        self.dataset = ""
        """The name of its dataset's class."""
        self.sampler = ""
        """The name of its sampler's class."""
        self.batch_size: int | None = None
        self.drop_last = False
        self.workers = 0
        self.persistent = False
        """Its workers stay from one pass to the next."""
        self.worker_init: Place | None = None
        """Where its `worker_init_fn` begins, if that is the user's own."""
        self.collate: Place | None = None
        """Where its `collate_fn` begins, if that is the user's own."""
        self.length: int | None = None
        """How many batches it says it has."""
        self.samples: int | None = None
        """How many samples its dataset says it has."""

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
    """The one that delivered last."""
    batches: int = 0
