"""Batches: the inputs of models, from a loader or by hand, in training and evaluation, and which rows are in both."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.loaders import Loader
    from stepscope.evidence.origins import Origin
    from stepscope.evidence.value_sample import TensorLook
    from stepscope.evidence.visits import Visit
    from stepscope.records.place import Place


@record
class Fed:
    """One call of a model that has parameters."""

    __slots__ = (
        "alike", "asked", "distinct", "grad", "graph", "loader", "look", "mark", "missed", "model", "origin", "rows",
        "step", "training", "visit",
    )  # fmt: skip

    def __init__(self, visit: Visit, model: Diet) -> None:
        self.visit = visit
        self.model = model
        self.step = visit.step
        self.grad, self.training = visit.grad, visit.training
        self.asked = False
        """Whether an input requires a gradient."""
        self.graph = False
        """Whether its result has a graph, and no input requires a gradient."""
        self.origin: Origin | None = None
        """For the largest input without a gradient: the data."""
        self.look: TensorLook | None = None
        self.rows = 0
        """Number of rows of the data that were checked."""
        self.distinct = 0
        """Number of distinct ones."""
        self.alike = 0
        """Number of rows equal to the most frequent of the first eight."""
        self.mark = 0
        """The hash of the first row: equal rows have equal hashes."""
        self.missed = False
        """There was no time to check its rows."""
        self.loader: Loader | None = None


@record
class Evaluated:
    """The non-training calls of one model from one place, on one loader's batches (or on none)."""

    __slots__ = (
        "calls", "left_out", "loader", "look", "origin", "overlapping", "places", "repeats", "rows", "seen", "unseen",
        "windows",
    )  # fmt: skip

    def __init__(self, places: list[Place], loader: Loader | None) -> None:
        self.places = places
        """Where it was called, innermost first."""
        self.loader = loader
        self.calls = 0
        self.rows = 0
        """Number of distinct rows."""
        self.repeats = 0
        """Rows that occurred twice in one call."""
        self.seen = 0
        """Number of rows this model had been trained on before."""
        self.left_out = 0
        """Number of training rows that are not among these."""
        self.windows = 0
        """Number of rows compared as windows of a longer series."""
        self.overlapping = 0
        """Number of those that share half of their values, shifted, with a training row of this model."""
        self.unseen = 0
        """Number of unobserved updates when a row was last added: what seems new may not be."""
        self.origin: Origin | None = None
        self.look: TensorLook | None = None


@record
class Diet:
    """The inputs of one model."""

    __slots__ = (
        "evaluated", "idle", "loaders", "missed", "origin", "places", "repeats", "rows", "trained", "trained_calls",
        "type",
    )  # fmt: skip

    def __init__(self, type: str) -> None:
        self.type = type
        """The name of the model's class."""
        self.trained = 0
        """Number of distinct rows it was trained on."""
        self.trained_calls = 0
        self.missed = 0
        """Calls whose rows were not checked for lack of time: they may be any rows."""
        self.repeats = 0
        """Rows that occurred twice in one training batch."""
        self.rows = 0
        self.evaluated: list[Evaluated] = []
        self.origin: Origin | None = None
        """Of the data it was first trained on."""
        self.loaders: list[Loader] = []
        self.places: list[Place] = []
        self.idle: dict[Place, int] = {}
        """Calls in eval mode that built a graph which no backward used, by place."""


@table("batches", version=3)
@dataclass(eq=False)
class Batches:
    """`run.batches`"""

    diets: list[Diet] = field(default_factory=list)
    first: list[Fed] = field(default_factory=list)
    """The first calls whose result reached a backward."""
    bad: Fed | None = None
    """The first call with a NaN or an infinity in its data."""

    def trains_on(self, loader: Loader) -> bool:
        """Whether a model was trained on batches of this loader (including alternating loaders)."""
        return loader.is_training or any(loader in diet.loaders for diet in self.diets)

    def evaluates(self, loader: Loader) -> bool:
        """Whether a model was called on batches of this loader without training."""
        return any(found.loader is loader for diet in self.diets for found in diet.evaluated)
