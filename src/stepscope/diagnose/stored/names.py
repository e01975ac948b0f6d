"""What the name of a series says: whether it is a loss or an accuracy, and of which data."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Kind = Literal["loss", "accuracy", "lr", "other"]
Split = Literal["train", "val", ""]

_WORDS = re.compile(r"[^a-z0-9]+|(?<=[a-z])(?=[0-9])")
_HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LOSS = {"loss", "nll", "ppl", "perplexity", "objective", "criterion"}
_ACCURACY = {"acc", "accuracy", "top", "precision", "recall", "f", "auc", "auroc", "iou", "miou", "dice"}
_TRAIN = {"train", "training", "tr"}
_VAL = {"val", "valid", "validation", "eval", "evaluation", "dev", "test", "holdout"}
_FILLERS = {"step", "epoch", "batch", "avg", "mean", "total", "running", "iter", "iteration", "per", "1"}
_OPPOSED = {
    "adv", "adversarial", "gan", "g", "d", "gen", "generator", "disc", "discriminator", "fake", "real", "err",
    "policy", "value", "actor", "critic", "q", "td", "entropy", "pg", "vf", "ppo", "kl", "kld", "reg", "penalty",
}  # fmt: skip
"""Parts of a name that say: this number is played against another, and may rise in a training that is well."""


@lru_cache(maxsize=4096)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case.

    >>> words_of("val/crossEntropyLoss_epoch")
    ('val', 'cross', 'entropy', 'loss', 'epoch')
    """
    return tuple(word for word in _WORDS.split(_HUMPS.sub("_", name).lower()) if word)


def kind_of(name: str) -> Kind:
    """
    >>> [kind_of(name) for name in ("train_loss", "val/acc@1", "lr-Adam", "system/gpu0/use_percent", "loss_scale")]
    ['loss', 'accuracy', 'lr', 'other', 'other']
    """
    words = words_of(name)
    if not words or words[0] == "system" or "scale" in words or "weight" in words:
        return "other"
    if "lr" in words or ("learning" in words and "rate" in words):
        return "lr"
    if _LOSS.intersection(words):
        return "loss"
    return "accuracy" if _ACCURACY.intersection(words) else "other"


def split_of(name: str) -> Split:
    """
    >>> [split_of(name) for name in ("loss/train", "valid_loss", "loss")]
    ['train', 'val', '']
    """
    words = words_of(name)
    if _VAL.intersection(words):
        return "val"
    return "train" if _TRAIN.intersection(words) else ""


def stem_of(name: str) -> tuple[str, ...]:
    """The name without its split and fillers, so that `train/loss_epoch` and `val_loss` meet.

    >>> stem_of("train/loss_epoch") == stem_of("val_loss"), stem_of("eval/kl_loss")
    (True, ('kl', 'loss'))
    """
    return tuple(word for word in words_of(name) if word not in _TRAIN | _VAL | _FILLERS)


def is_plain_loss(name: str) -> bool:
    """Whether this is *the* loss of a training that wants it small, not one side of a game or one term of many.

    >>> [is_plain_loss(name) for name in ("train/loss", "loss_epoch", "loss/generator", "ppo/policy_loss", "kl_loss")]
    [True, True, False, False, False]
    """
    return kind_of(name) == "loss" and not _OPPOSED.intersection(words_of(name))
