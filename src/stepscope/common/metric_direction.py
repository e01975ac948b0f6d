"""Which direction of a metric is better, by its name. Unknown names are not guessed."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Goal = Literal["min", "max"]

_LESS = frozenset((
    "loss", "losses", "nll", "err", "errors", "error", "mse", "mae", "rmse", "rmsle", "ppl", "perplexity", "cer",
    "wer", "fid", "kl", "bpb", "bpc", "bce", "crossentropy", "regret", "cost",
))  # fmt: skip
_MORE = frozenset((
    "acc", "accs", "acc1", "acc5", "accuracy", "accuracies", "auc", "auroc", "auprc", "f1", "iou", "miou", "dice",
    "bleu", "rouge", "map", "ap", "precision", "recall", "reward", "return", "psnr", "ssim", "r2", "score", "top1",
    "top5", "elbo",
))  # fmt: skip
_VAGUE = frozenset({"score", "return", "cost", "map", "ap", "kl"})
"""Reliable enough for a table column, but not for a finding."""
_WORDS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")


@lru_cache(maxsize=4096)
def goal_of(name: str, *, is_sure: bool = False) -> Goal | None:
    """Lower is better for a loss, higher for an accuracy. If a name has words of both kinds, the last one decides.

    With `is_sure`, ambiguous words are ignored.


    >>> [goal_of(name) for name in ("val/kl_loss", "top1", "valAcc", "elbo_loss", "loss2", "lr", "system/gpu.error")]
    ['min', 'max', 'max', 'min', 'min', None, None]
    """
    if name.startswith("system/"):
        return None
    for word in reversed(_WORDS.split(name)):
        # The digits of "loss2" number a loss; those of "acc5" belong to its name, so it is in the list.
        forms = {word.lower(), word.lower().rstrip("0123456789")} - (_VAGUE if is_sure else frozenset())
        if forms & _LESS:
            return "min"
        if forms & _MORE:
            return "max"
    return None
