"""What a run of a sweep says while it goes: read from its folder, as any other reader would."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import numpy.typing as npt

from stepscope.errors import StepscopeError
from stepscope.files.opening import read_file
from stepscope.runs.format.layout import is_run_folder
from stepscope.runs.read.folder import RunFolder
from stepscope.sweep.spec import Metric

Floats = npt.NDArray[np.float64]
Steps = npt.NDArray[np.int64]

_LOSS = re.compile(r"(?i)(?:^|[/_. -])loss$")
_HELD_OUT = re.compile(r"(?i)(?:^|[/_. -])(?:val|valid|validation|eval|test)(?:[/_. -]|$)")
_LARGEST_NOTE = 16 << 20
MOST_LOSSES = 8


def folders_in(note: Path) -> list[Path]:
    """The run folders that a trial has opened and not thrown away again, in the order it did."""
    try:
        lines = read_file(note, _LARGEST_NOTE).split(b"\n")[:-1]  # a torn last line is not yet
    except OSError:
        return []
    paths = [Path(os.fsdecode(line)) for line in dict.fromkeys(lines) if line]
    return [path for path in paths if is_run_folder(path)]


class Reader:
    """The runs of one trial, read again and again; each look costs what is new."""

    def __init__(self, note: Path, metric: Metric | None) -> None:
        self._note = note
        self._metric = metric
        self._known: dict[Path, RunFolder] = {}
        self.folder: RunFolder | None = None
        """The run that counts: the newest one with the metric, or the newest."""

    def refresh(self) -> None:
        runs = []
        for path in folders_in(self._note):
            try:
                if path not in self._known:
                    self._known[path] = RunFolder(path)
                self._known[path].refresh()
            except (StepscopeError, OSError):  # damaged, or just being moved away: as if it were not there
                continue
            runs.append(self._known[path])
        with_metric = [run for run in runs if self._metric is not None and self._metric.name in run.metrics()]
        chosen = with_metric or runs
        self.folder = chosen[-1] if chosen else None

    def curve(self) -> tuple[Steps, Floats]:
        """The metric so far; empty while there is none."""
        return self._series(None if self._metric is None else self._metric.name)

    def _series(self, name: str | None) -> tuple[Steps, Floats]:
        if self.folder is None or name is None or name not in self.folder.metrics():
            return np.empty(0, np.int64), np.empty(0)
        series = self.folder.series(name)
        return series.steps, series.values

    def losses(self) -> dict[str, Floats]:
        """The series that must not diverge: training losses by their names, and the metric."""
        if self.folder is None:
            return {}
        own = None if self._metric is None else self._metric.name
        names = [one for one in self.folder.metrics() if is_loss(one) and one != own][:MOST_LOSSES]
        names += [own] if own is not None else []
        found = {name: self._series(name)[1] for name in names}
        return {name: values for name, values in found.items() if len(values)}

    def value(self) -> float | None:
        """What the run came to, by the metric; None when it has none or it is not a number."""
        metric, folder = self._metric, self.folder
        if metric is None or folder is None:
            return None
        if metric.of == "summary":
            value = folder.summary.get(metric.name)
        else:
            values = self.curve()[1]
            finite = values[np.isfinite(values)]
            if metric.of == "last":
                value = float(values[-1]) if len(values) else None
            else:
                value = None if not len(finite) else float(finite.min() if metric.goal == "min" else finite.max())
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return float(value)

    def step(self) -> int | None:
        steps = self.curve()[0]
        return int(steps[-1]) if len(steps) else None


def few_of(values: Floats, most: int = 64) -> list[float]:
    """Some of many values, from the first to the last."""
    places = np.linspace(0, len(values) - 1, min(len(values), most)).astype(int)
    few: list[float] = values[places].tolist()
    return few


def is_loss(name: str) -> bool:
    """Whether a series is a training's loss, by its name.

    >>> [is_loss(name) for name in ("loss", "train/loss", "train_loss", "val_loss", "loss_scale", "watched/loss")]
    [True, True, True, False, False, True]
    """
    return bool(_LOSS.search(name)) and not _HELD_OUT.search(name)
