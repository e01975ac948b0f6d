"""Ranks: what the processes of a distributed training have recorded, for the rank that compares them."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from stepscope.evidence.registry import record, table

_MANY = 128

Spot = tuple[str, int]
"""A file and a line."""


class Fact(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """One line that a process writes."""


@record
class Delivered(Fact, frozen=True):
    """A loader has delivered a batch."""

    loader: int
    number: int
    digest: str
    length: int
    sampler: str
    shared: bool
    """Its sampler partitions the data among the ranks."""
    iterable: bool
    made: Spot | None


@record
class RankFed(Fact, frozen=True):
    """A model was called with gradients enabled; the properties of its input."""

    number: int
    digest: str
    length: int


@record
class Wrapped(Fact, frozen=True):
    """A model was wrapped in DistributedDataParallel."""

    place: Spot | None
    size: int = 0
    """Of its process group."""


@record
class Sampled(Fact, frozen=True):
    """A DistributedSampler partitions the data of a loader."""

    loader: int
    seed: int
    shuffles: bool
    replicas: int
    length: int
    """Of the dataset."""
    indices: str
    """For a subset: a digest of its samples."""
    made: Spot | None
    """The sampler."""
    loader_made: Spot | None
    rank: int = -1
    """Whose part it takes."""


@record
class RunningStats(Fact, frozen=True):
    """The buffers of a model after some steps, if nothing synchronizes them."""

    step: int
    names: list[str]
    """Layers of batch norm, for their running means; then other buffers."""
    digests: list[str]
    place: Spot | None
    others: int = 0
    """How many are not of batch norm."""


@record
class Saved(Fact, frozen=True):
    """`torch.save` to a path, or a saved file that was renamed to it."""

    path: str
    host: str
    """The real path; the same on all hosts if the folder is on a network."""
    step: int
    place: Spot | None
    is_renamed: bool = False


@record
class OpenFile(Fact, frozen=True):
    """An open file that the script has written to."""

    path: str
    host: str


@record
class NotFinite(Fact, frozen=True):
    """The first non-finite loss."""

    step: int
    value: str
    place: Spot | None


@record
class Synced(Fact, frozen=True):
    """A collective was called on gradients or on parameters: "grads" or "params"."""

    what: str
    step: int
    names: list[str]
    """Of the parameters concerned; empty for all."""
    call: str = ""
    """The collective with the arguments that all ranks must agree on."""
    place: Spot | None = None
    is_late: bool = False
    """Of gradients: an optimizer has stepped since the backward pass."""


@record
class Weights(Fact, frozen=True):
    """The parameters before the backward after some steps."""

    step: int
    names: list[str]
    digests: list[str]
    values: list[list[float]]
    """A few of each."""
    made: Spot | None
    """Where the model was created."""
    backward: Spot | None = None


@record
class Pace(Fact, frozen=True):
    """How the process came to a step after which parameters are compared."""

    step: int
    backwards: int
    rates: list[float]
    """The learning rates of the optimizers' groups."""
    scheduled: int
    """How often its schedulers have stepped."""
    late: list[str]
    """Parameters that were put into a model, or began to require gradients, after DistributedDataParallel had wrapped
    it.
    """
    step_place: Spot | None
    """The last `optimizer.step()`."""
    scheduler_place: Spot | None
    """The last `scheduler.step()`."""
    late_place: Spot | None
    """Where a late parameter's module was created, or where the model was wrapped, if the parameter was frozen then."""
    loads: int = 0
    """How often weights were loaded into a module."""
    load_place: Spot | None = None
    """The last `load_state_dict`."""
    thawed: bool = False
    """The late parameters were frozen when the model was wrapped."""
    unsynced: int = 0
    """How many steps used gradients whose last backward pass was inside `no_sync()`."""
    unsynced_place: Spot | None = None
    """Such a backward pass."""


@record
class Called(Fact, frozen=True):
    """A collective of all ranks is being called."""

    number: int
    name: str
    shape: list[int]
    place: Spot | None


@record
class Ended(Fact, frozen=True):
    """The process has ended, normally or by an exception."""

    steps: int
    backwards: int
    batches: dict[int, int]
    """For each training loader."""
    loop: Spot | None
    """Where the training loader is iterated."""
    error: str | None


@record
class Rank:
    """Everything one process has recorded."""

    __slots__ = (
        "called", "delivered", "ended", "fed", "not_finite", "open_files", "paces", "parts", "rank", "returned",
        "running", "sampled", "saved", "size", "synced", "trained", "weights", "wraps",
    )  # fmt: skip

    def __init__(self) -> None:
        self.rank = -1
        self.size = 1
        self.delivered: dict[int, list[Delivered]] = {}
        self.fed: list[RankFed] = []
        self.trained: set[int] = set()
        self.wraps: list[Wrapped] = []
        """Over all ranks."""
        self.parts: list[Wrapped] = []
        """Over some of them."""
        self.sampled: dict[int, Sampled] = {}
        """By the number of the loader."""
        self.running: dict[int, RunningStats] = {}
        """By step."""
        self.saved: list[Saved] = []
        self.open_files: list[OpenFile] = []
        self.not_finite: NotFinite | None = None
        self.synced: list[Synced] = []
        self.weights: dict[int, Weights] = {}
        self.paces: dict[int, Pace] = {}
        """By step, as the weights."""
        self.called: list[Called] = []
        self.returned: set[int] = set()
        self.ended: Ended | None = None

    @property
    def shares_gradients(self) -> bool:
        """Whether it trains one model together with the other ranks."""
        return bool(self.wraps) or any(one.what == "grads" for one in self.synced)

    @property
    def waits_in(self) -> Called | None:
        """The collective that was called and has not returned."""
        last = self.called[-1] if self.called else None
        return last if last is not None and last.number not in self.returned else None


@table("ranks", version=5)
@dataclass(eq=False)
class Ranks:
    """`run.ranks`: the members of a process group of several, as far as rank 0 knows them."""

    all: list[Rank] = field(default_factory=list)

    @property
    def are_all_heard(self) -> bool:
        """Whether no others are expected: of very many ranks only some are compared, and none join after the end."""
        size = max((one.size for one in self.all), default=1)
        return len(self.all) >= min(size, _MANY) or any(one.ended is not None for one in self.all)
