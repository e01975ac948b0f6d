from __future__ import annotations

import math
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.losses import LossCall
from stepscope.evidence.origins import Origin
from stepscope.records.place import Place


@rule("init.bias-prior", severity="info", needs="end")
def bias_prior(run: Evidence) -> Iterator[Proof]:
    """The classes are very imbalanced, and the last bias does not start at their log-odds.

    Why it matters: the first steps only learn that almost everything is negative; the rare class drowns in them.

    What to do: start the last bias at the logarithm of the odds: `nn.init.constant_(last.bias, math.log(p / (1 - p)))`.

    How it is found: less than one target in twenty is positive, and the first loss is that of a guess of one half.

    Bad:
        self.head = nn.Linear(64, 1)
    Good:
        self.head = nn.Linear(64, 1)
        nn.init.constant_(self.head.bias, math.log(0.01 / 0.99))
    """
    for calls in run.losses.by_place("binary_cross_entropy_with_logits", "binary_cross_entropy"):
        share = _positive(calls)
        first = calls[0]
        if share is None or not 0 < share < 0.05 or first.value is None or first.step or first.pos_weight:
            continue
        entropy = -(share * math.log(share) + (1 - share) * math.log(1 - share))
        if not 0.4 < first.value < 1.2 or first.value < 2.5 * entropy:
            continue
        yield Proof(
            where=_last_layer(first.input) or first.place,
            message=f"{share:.1%} of the targets are positive, but the model initially predicts about one half: the "
            f"first loss is {first.value:.2f} instead of {entropy:.2f}",
            label="the last bias could start at the log-odds",
            evidence={"positive": share, "first_loss": first.value, "entropy": entropy},
            fix=f"nn.init.constant_(last_layer.bias, {math.log(share / (1 - share)):.2f})",
        )


def _positive(calls: list[LossCall]) -> float | None:
    counts = [call.counts for call in calls if call.counts is not None]
    total = sum(sum(count.values()) for count in counts)
    return None if total < 100 else sum(count.get(1, 0) for count in counts) / total


def _last_layer(origin: Origin | None) -> Place | None:
    layer = None if origin is None else origin.comes_from("linear", "conv2d", "conv1d", most=20)
    return layer.visit.module.made if layer is not None and layer.visit is not None else None
