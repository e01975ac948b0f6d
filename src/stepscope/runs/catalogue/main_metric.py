"""The metric that represents a run in a list: one with a user-defined goal, else the loss."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from stepscope.records import MetricRule

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SPARK_POINTS = 40

_TRAINING = ("train", "training", "trn")
_HELD_OUT = ("val", "valid", "validation", "eval", "test", "dev")
_MACHINE = ("system/", "memory/", "time/")
"""Machine and timing series that Stepscope logs itself; never a run's main metric."""
_LOSS_WORDS = ("loss", "nll", "elbo", "objective", "cost", "perplexity", "ppl", "error", "err")


def main_metric(names: tuple[str, ...], rules: Sequence[MetricRule] = ()) -> str | None:
    """The metric to draw beside a run's name.

    >>> main_metric(("lr", "val/loss", "train/loss", "train/kl_loss"))
    'train/loss'
    """
    for rule in rules:
        if rule.goal is not None:
            for name in names:
                if name == rule.name or (rule.name.endswith("*") and name.startswith(rule.name[:-1])):
                    return name
    return _most_like_a_loss(names)


@lru_cache(maxsize=64)
def _most_like_a_loss(names: tuple[str, ...]) -> str | None:
    """Cached, because the runs of a store mostly have the same metrics."""
    return min((name for name in names if not name.startswith(_MACHINE)), key=_rank, default=None)


def _rank(name: str) -> tuple[int, int, int, str]:
    """Sort key, best first; names that are not a loss come last, shorter ones first."""
    likeness = loss_likeness(name)
    return (*likeness, name) if likeness is not None else (len(_LOSS_WORDS), len(_words(name)), 0, name)


def loss_likeness(name: str) -> tuple[int, int, int] | None:
    """How loss-like a name is, its extra words, and its split; less is better. None if it is not a loss.

    >>> loss_likeness("train/loss"), loss_likeness("val/kl_loss"), loss_likeness("lr")
    ((0, 0, 0), (0, 1, 1), None)
    """
    words = _words(name)
    kind = next((at for at, word in enumerate(_LOSS_WORDS) if any(one.startswith(word) for one in words)), None)
    if kind is None:
        return None
    others = [word for word in words if not word.startswith(_LOSS_WORDS[kind])]
    whose = 1 if any(word in _HELD_OUT for word in others) else 0
    said = sum(word not in _TRAINING and word not in _HELD_OUT for word in others)
    return kind, said, whose


def _words(name: str) -> list[str]:
    lower = name.lower().replace("-", "_").replace(".", "/")
    return [word for part in lower.split("/") for word in part.split("_") if word]


def sparkline(values: npt.NDArray[np.float64]) -> list[float | None]:
    """About forty values for a sparkline: means of equal intervals; None where nothing is finite."""
    import numpy as np

    count = len(values)
    if not count:
        return []
    edges = np.unique(np.linspace(0, count, min(count, SPARK_POINTS) + 1).astype(np.int64))
    finite = np.isfinite(values)
    with np.errstate(all="ignore"):
        sums = np.add.reduceat(np.where(finite, values, 0.0), edges[:-1])
        means = (sums / np.add.reduceat(finite.astype(np.float64), edges[:-1])).astype(np.float32)
    return [float(mean) if np.isfinite(mean) else None for mean in means]
