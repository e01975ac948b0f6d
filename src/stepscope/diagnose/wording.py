"""What names say: is a quantity called like this better when it is small, or when it is large?"""

from __future__ import annotations

import re

__all__ = ["better_when", "monitored_when"]

_SMALL = re.compile(r"(loss|error|errors|err|nll|mse|rmse|mae|perplexity|ppl|elbo_loss|bce|crossentropy|wer|cer|fid)$")
_LARGE = re.compile(r"(acc|accuracy|accs|f1|auc|auroc|precision|recall|iou|miou|dice|bleu|r2|map|psnr|ssim|reward)$")


def better_when(name: str) -> str | None:
    """ "min" for a loss, "max" for an accuracy, None where the name does not tell.

    >>> [better_when(name) for name in ("val_loss", "valAcc", "self.best_f1", "score", "loss_fn")]
    ['min', 'max', 'max', None, None]
    """
    words = re.sub(r"([a-z])([A-Z])", r"\1_\2", name.rpartition(".")[2]).lower().split("_")
    small = any(_SMALL.fullmatch(word) for word in words)
    large = any(_LARGE.fullmatch(word) for word in words)
    if small == large or words[-1] in ("fn", "function", "func", "module", "list", "history"):
        return None
    return "min" if small else "max"


_TURNED = frozenset((
    "neg", "negative", "minus", "inv", "inverse", "reverse", "improvement", "reduction", "drop", "decrease", "delta",
    "gap", "ratio", "diff", "difference", "change", "weight", "count", "time", "adv", "adversarial", "attack", "disc",
    "discriminator", "critic", "d", "domain", "probe", "leak", "forget",
))  # fmt: skip
"""With one of these a name says nothing: the loss of an adversary is better when it is large."""


def monitored_when(name: str) -> str | None:
    """`better_when`, for the names under which trainers log; None also where a word turns or blurs the sense.

    >>> [monitored_when(name) for name in ("val/loss", "valid-acc", "Val Accuracy_epoch", "neg_loss", "d_loss")]
    ['min', 'max', 'max', None, None]
    """
    plain = re.sub(r"\W+", "_", name).strip("_")
    return None if _TURNED & set(plain.lower().split("_")) else better_when(plain)
