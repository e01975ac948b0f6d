"""Which way a metric is good: as the person said, else from its name. Unknown names are not guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from stepscope.records import MetricRule

__all__ = ["Goal", "goal_of", "said_goals"]

Goal = Literal["min", "max"]

_LESS = {
    "loss", "nll", "err", "error", "errors", "mse", "mae", "rmse", "rmsle", "ppl", "perplexity", "cer", "wer", "fid",
    "kl", "bpb", "bpc", "regret", "cost",
}  # fmt: skip
_MORE = {
    "acc", "acc1", "acc5", "accuracy", "auc", "auroc", "auprc", "f1", "iou", "miou", "dice", "bleu", "rouge", "map",
    "ap", "precision", "recall", "reward", "return", "psnr", "ssim", "r2", "score", "top1", "top5", "elbo",
}  # fmt: skip
_WORDS = re.compile(r"[_\-/.\s]+")


@lru_cache(maxsize=4096)
def goal_of(name: str) -> Goal | None:
    """What a metric's name says: less of a loss is good, more of an accuracy.

    >>> goal_of("val/kl_loss"), goal_of("top1"), goal_of("lr"), goal_of("system/gpu.error")
    ('min', 'max', None, None)
    """
    if name.startswith("system/"):
        return None
    words = _WORDS.split(name.lower())
    # The digits of "loss2" number a loss; those of "acc5" belong to its name, and so it stands in the list.
    bare = [word.rstrip("0123456789") for word in words]
    if any(word in _LESS for word in (*words, *bare)):
        return "min"
    return "max" if any(word in _MORE for word in (*words, *bare)) else None


def said_goals(names: Iterable[str], rules: Iterable[MetricRule]) -> dict[str, Goal]:
    """The goals that `run.define` gave, by metric; a metric's own before one with a `*`, later ones before earlier."""
    found: dict[str, Goal] = {}
    given = [rule for rule in rules if rule.goal is not None]
    for name in names if given else ():
        own = [rule for rule in given if rule.name == name]
        wide = [rule for rule in given if rule.name.endswith("*") and name.startswith(rule.name[:-1])]
        goal = (own or wide)[-1].goal if own or wide else None
        if goal is not None:
            found[name] = goal
    return found
