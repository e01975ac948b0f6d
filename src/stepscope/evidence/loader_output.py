"""Loader output: what each loader delivers, epoch by epoch, and whether its dataset's own arrays change meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.loaders import Loader


@record
class Delivery:
    """What one loader has delivered."""

    __slots__ = (
        "batches", "changed", "head_labels", "heads", "labelled", "labels", "loader", "misplaced", "own_labels",
        "rows", "shapes", "varying", "weights",
    )  # fmt: skip

    def __init__(self, loader: Loader) -> None:
        self.loader = loader
        self.batches = 0
        self.shapes: list[tuple[int, ...]] = []
        """Of the first batch's tensors."""
        self.heads: list[list[list[int]]] = []
        """By epoch (the first six): hashes of the rows of its first three batches."""
        self.head_labels: list[list[list[int] | None]] = []
        self.labels: list[list[int]] = []
        """The labels of the first epoch, batch by batch."""
        self.labelled = 0
        self.changed: dict[tuple[str, int], set[int]] = {}
        """(array of the dataset, row) -> the epochs in which delivering it changed it."""
        self.own_labels: dict[int, int] | None = None
        """Class counts in the dataset itself; computed for a weighted sampler."""
        self.weights: int | None = None
        """Number of weights of its sampler, if weighted."""
        self.rows = 0
        """Number of samples in the dataset, to compare with those weights."""
        self.varying: int | None = None
        """Of eight samples of evaluation data, taken twice: how many came otherwise, with the same label. An
        experiment; None: not made."""
        self.misplaced = False
        """Whether its collate function reorders samples but not their labels. An experiment."""

    @property
    def is_supervised(self) -> bool:
        """Whether it delivers labeled samples, and no two tensors of the same size (before and after)."""
        large = [shape for shape in self.shapes if len(shape) >= 2 and shape[1:] != (1,)]
        has_labels = any(labels is not None for epoch in self.head_labels for labels in epoch)
        return has_labels and len(set(large)) == len(large)

    @property
    def other_samples(self) -> bool | None:
        """Whether samples changed between passes though their labels did not; None after a single pass."""
        if self.loader.sampler != "SequentialSampler" or len(self.heads) < 2:
            return None
        for marks, labels in zip(self.heads[1:], self.head_labels[1:], strict=True):
            before, before_labels = self.heads[0], self.head_labels[0]
            if not marks or not before or labels[0] is None or labels[0] != before_labels[0]:
                return None
            if len(marks[0]) != len(before[0]):
                return None
            differ = sum(one != other for one, other in zip(marks[0], before[0], strict=True))
            if differ < 0.5 * len(marks[0]):
                return False
        return True


@table("loader_output", version=2)
@dataclass(eq=False)
class LoaderOutput:
    """`run.loader_output`"""

    all: list[Delivery] = field(default_factory=list)
    not_checked: dict[str, str] = field(default_factory=dict)
    """Group of rules -> why an experiment could not run."""

    def of(self, loader: Loader) -> Delivery | None:
        return next((one for one in self.all if one.loader is loader), None)
