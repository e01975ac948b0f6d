"""Targets: what losses compare predictions with, set beside what the model was given for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.loaders import Loader
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place

__all__ = ["Target", "Targets"]


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
        """How many different samples came with a label."""
        self.clashes = 0
        """How many of them came with two."""
        self.clash: tuple[int, int] | None = None
        """The two labels of the first of these."""
        self.same_ids = 0
        """How often the target was, number for number, the ids the model was given."""
        self.ids_ahead: dict[int, int] = {}
        """How often the target was the ids the model was given, by how many places on: 1 is the next token."""
        self.ignored = 0
        """In how many calls every target was one that the loss leaves out."""
        self.ignore_index = -100
        self.vocabulary: set[int] = set()
        self.leaking: dict[int, str] | None = None
        """Columns of the data that were the target each time: exactly ("same"), or stretched and moved ("scaled")."""
        self.leak_rows = 0
        self.leak_calls = 0
        self.distinct: set[float] = set()
        self.width: tuple[int, ...] = ()
        """The shape of one row of the data."""
        self.strange = 0
        self.strange_loader: tuple[Loader, Loader] | None = None
        """The targets came from a loader of which the model got nothing: (loader of the data, that loader)."""
        self.nan = 0
        """In how many calls the target held NaN or an infinity."""
        self.nan_step = 0
        self.whole = 0
        """How often the loss took all rows of a model's output, with nothing picked or masked."""
        self.rows = 0
        self.apart: list[tuple[Origin, Origin]] = []
        """Random draws that picked the rows and not the targets, and the other way round."""


@table("targets")
@dataclass(eq=False)
class Targets:
    """`run.targets`"""

    all: list[Target] = field(default_factory=list)
