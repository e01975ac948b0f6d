"""What a run folder holds, as the rules for stored runs ask for it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from stepscope.diagnose.stored.names import Kind, Split, is_plain_loss, kind_of, split_of, stem_of
from stepscope.plain_text import clean

if TYPE_CHECKING:
    from stepscope.runs.points.series import Series
    from stepscope.runs.read.folder import RunFolder

MAX_SERIES = 400
"""Series looked at of one run; a run may have a hundred thousand."""
MAX_CONSOLE = 2 << 20
"""Letters of the console that are read, from its end: that is where a run says why it stopped."""


class StoredRun:
    """One run, read lazily: a rule pays only for what it asks."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.found: list[str] = []
        """The ids of the rules that have found something in this run so far, also while it ran."""

    @cached_property
    def names(self) -> list[str]:
        return self.folder.metrics()

    @cached_property
    def looked_at(self) -> list[str]:
        """The series that are looked at: all of a usual run."""
        mine = [name for name in self.names if kind_of(name) != "other"]
        return mine[:MAX_SERIES]

    def of_kind(self, kind: Kind, split: Split | None = None) -> Iterator[Series]:
        """The series of one kind; of one split where it is given ("" for those whose name says none)."""
        for name in self.looked_at:
            if kind_of(name) == kind and (split is None or split_of(name) == split):
                yield self.folder.series(name)

    @cached_property
    def losses(self) -> list[Series]:
        """The losses that a training wants small, whatever their split."""
        return [series for series in self.of_kind("loss") if is_plain_loss(series.name)]

    @cached_property
    def training_losses(self) -> list[Series]:
        return [series for series in self.losses if split_of(series.name) != "val"]

    def partner(self, series: Series, kind: Kind, split: Split) -> Series | None:
        """The series of another kind or split that belongs to this one: `val/loss` to `train/loss`."""
        stem = [word for word in stem_of(series.name) if kind == kind_of(series.name)]
        for other in self.of_kind(kind, split):
            if kind != kind_of(series.name) or list(stem_of(other.name)) == stem:
                return other
        return None

    def system(self, ending: str) -> Iterator[Series]:
        """What the machine did meanwhile: `system("memory_percent")`, also of each GPU."""
        for name in self.names:
            if name.startswith("system/") and name.endswith(ending):
                yield self.folder.series(name)

    @property
    def config(self) -> dict[str, Any]:
        return self.folder.config

    @cached_property
    def console(self) -> str:
        """The end of what the script printed, without colors."""
        text, room = [], MAX_CONSOLE
        for piece in reversed(self.folder.console()):
            if room <= 0:
                break
            text.append(piece.text[-room:])
            room -= len(piece.text)
        return clean("".join(reversed(text)), keep_newlines=True)

    @cached_property
    def traceback(self) -> str:
        """The traceback that ended it: as it was kept, or as the console shows it."""
        kept = self.folder.standing.traceback
        if kept:
            return kept
        if self.folder.status in ("finished", "running"):
            return ""
        start = self.console.rfind("Traceback (most recent call last):")
        return self.console[start:] if start >= 0 else ""

    @cached_property
    def is_explained(self) -> bool:
        """Whether a rule that watched the script has named an error."""
        return any(finding.severity == "error" for finding in self.folder.findings)

    @property
    def last_step(self) -> int | None:
        steps = [int(series.steps[-1]) for series in self.training_losses if len(series)]
        return max(steps, default=None)

    def value_at(self, series: Series | None, step: int) -> float | None:
        """The newest value of a series at a step."""
        if series is None or not len(series):
            return None
        at = int(np.searchsorted(series.steps, step, side="right")) - 1
        return float(series.values[at]) if at >= 0 else None
