"""Names that code keeps the best of: is a quantity called like this better when it is small, or when it is large?"""

from __future__ import annotations

import re

from stepscope.common.metric_direction import Goal, goal_of

_NOT_VALUES = ("fn", "function", "func", "module", "list", "history")


def better_when(name: str) -> Goal | None:
    """ "min" for a loss, "max" for an accuracy, None where the name does not tell or is not of a value.

    >>> [better_when(name) for name in ("val_loss", "valAcc", "self.best_f1", "lr", "loss_fn")]
    ['min', 'max', 'max', None, None]
    """
    last = name.rpartition(".")[2]
    return None if last.lower().split("_")[-1] in _NOT_VALUES else goal_of(last, is_sure=True)


_TURNED = frozenset((
    "neg", "negative", "minus", "inv", "inverse", "reverse", "improvement", "reduction", "drop", "decrease", "delta",
    "gap", "ratio", "diff", "difference", "change", "weight", "count", "time", "adv", "adversarial", "attack", "disc",
    "discriminator", "critic", "d", "domain", "probe", "leak", "forget",
))  # fmt: skip
"""With one of these a name says nothing: the loss of an adversary is better when it is large."""


def monitored_when(name: str) -> Goal | None:
    """`better_when`, for the names under which trainers log; None also where a word turns or blurs the sense.

    >>> [monitored_when(name) for name in ("val/loss", "valid-acc", "Val Accuracy_epoch", "neg_loss", "d_loss")]
    ['min', 'max', 'max', None, None]
    """
    plain = re.sub(r"\W+", "_", name).strip("_")
    return None if _TURNED & set(plain.lower().split("_")) else better_when(plain)
