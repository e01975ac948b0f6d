"""A run's progress, from the number of steps or epochs in its config."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepscope.runs.points.series import Series

STEPS = ("max_steps", "total_steps", "num_steps", "n_steps", "train_steps", "num_train_steps", "max_iters",
         "num_iters", "total_iters", "iterations", "max_iterations", "steps")  # fmt: skip
EPOCHS = ("epochs", "num_epochs", "n_epochs", "max_epochs", "total_epochs", "num_train_epochs")
PER_EPOCH = ("steps_per_epoch", "batches_per_epoch", "num_batches", "len_loader", "loader_length")


@dataclass(frozen=True)
class Progress:
    part: float
    """0 to 1."""
    words: str
    left_steps: float | None


def progress_of(config: Mapping[str, Any], series: Series, epochs: Series | None) -> Progress | None:
    """The progress of a run whose newest points are in `series`; None if its length is unknown.

    >>> half = Series("loss", [0, 49], [0.0, 1.0], [1.0, 0.5])
    >>> progress_of({"max_steps": 100}, half, None)
    Progress(part=0.5, words='step 50 of 100', left_steps=50.0)
    """
    done = float(series.steps[-1] + 1)
    total = _named(config, STEPS)
    many = _named(config, EPOCHS)
    per = _named(config, PER_EPOCH)
    if total is None and many is not None and per is not None:
        total = many * per
    if total is not None and done <= total * 1.01:
        return Progress(min(1.0, done / total), f"step {int(done):,} of {int(total):,}", max(0.0, total - done))
    if many is None or epochs is None or not len(epochs):
        return None
    return _by_epochs(many, epochs, done)


def _by_epochs(many: float, epochs: Series, done: float) -> Progress | None:
    """If the epoch is logged as a whole number, the steps since it changed give the fraction."""
    values = epochs.values[np.isfinite(epochs.values)]
    if not len(values):
        return None
    first, now = float(values[0]), float(values[-1])
    changed = np.flatnonzero(np.diff(values)) + 1
    if now != math.floor(now) or not len(changed):
        at, per = now, done / now if now > 0 else None
    else:
        per = float(epochs.steps[changed[-1]] - epochs.steps[0]) / max(1.0, now - first)
        into = (done - float(epochs.steps[changed[-1]])) / per if per > 0 else 0.0
        at = now - (1.0 if first >= 1 else 0.0) + min(1.0, max(0.0, into))
    part = min(1.0, max(0.0, at / many))
    left = None if not per else max(0.0, (many - at) * per)
    return Progress(part, f"epoch {at:.1f} of {many:g}", left)


def _named(config: Mapping[str, Any], names: tuple[str, ...]) -> float | None:
    """The first positive number under one of the names, at the top or inside a section (`trainer/max_steps`)."""
    by_ending = {key.replace(".", "/").rpartition("/")[2].lower(): value for key, value in config.items()}
    for name in names:
        value = by_ending.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0 and math.isfinite(value):
            return float(value)
    return None
