"""Targets: what losses compare predictions with, beside the model's inputs for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.loaders import Loader
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place


@record
class Target:
    """One place where a loss compares predictions with targets."""

    __slots__ = (
        "apart", "calls", "clash", "clashes", "data", "distinct", "ids_ahead", "ignore_index", "ignored", "labelled",
        "labels", "leak_calls", "leak_rows", "leaking", "loader", "looks", "nan", "nan_step", "op", "origin", "place",
        "rows", "same_ids", "samples", "strange", "strange_loader", "vocabulary", "whole", "width",
    )  # fmt: skip

    def __init__(self, op: str, place: Place | None, origin: Origin) -> None:
        self.op = op
        self.place = place
        self.origin = origin
        """Of the target, the first time."""
        self.data: Origin | None = None
        """Of the model's data, the first time."""
        self.calls = 0
        self.looks = 0
        self.loader: Loader | None = None
        self.labels: list[list[int]] = []
        """The labels of each training batch, in order."""
        self.labelled = 0
        self.samples = 0
        """Number of distinct samples with a label."""
        self.clashes = 0
        """Number of them with two labels."""
        self.clash: tuple[int, int] | None = None
        """The two labels of the first of these."""
        self.same_ids = 0
        """How often the target was exactly the model's input ids."""
        self.ids_ahead: dict[int, int] = {}
        """How often the target was the input ids, by shift: 1 is the next token."""
        self.ignored = 0
        """In how many calls every target was ignored by the loss."""
        self.ignore_index = -100
        self.vocabulary: set[int] = set()
        self.leaking: dict[int, str] | None = None
        """Columns of the data that were always the target: exactly ("same"), or scaled and shifted ("scaled")."""
        self.leak_rows = 0
        self.leak_calls = 0
        self.distinct: set[float] = set()
        self.width: tuple[int, ...] = ()
        """The shape of one row of the data."""
        self.strange = 0
        self.strange_loader: tuple[Loader, Loader] | None = None
        """The targets came from a loader that delivered none of the model's data: (loader of the data, that loader)."""
        self.nan = 0
        """In how many calls the target contained NaN or an infinity."""
        self.nan_step = 0
        self.whole = 0
        """How often the loss used all rows of a model's output, with nothing selected or masked."""
        self.rows = 0
        self.apart: list[tuple[Origin, Origin]] = []
        """Random draws that selected the rows but not the targets, and vice versa."""


@table("targets")
@dataclass(eq=False)
class Targets:
    """`run.targets`"""

    all: list[Target] = field(default_factory=list)
