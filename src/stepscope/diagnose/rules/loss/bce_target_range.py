from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_SLACK = 0.25
_FEWEST = 3


@rule("loss.bce-target-range", severity="warning")
def bce_target_range(run: Evidence) -> Iterator[Proof]:
    """`BCEWithLogitsLoss` is given targets outside 0 to 1, such as masks of 0 and 255.

    Why it matters: torch does not check it. With a target above 1 the loss falls without end as the score grows, so the
    model predicts that class everywhere; the loss becomes negative.

    What to do: scale the targets: divide a mask by 255 (or compare it, `mask > 0`), turn labels of -1 and 1 into 0
    and 1.

    How it is found: the first targets of each loss are checked; in at least three calls they leave 0 to 1 by more than
    a quarter. A loss for each element (`reduction="none"`) or with weights may mask them later, and is not reported.

    Bad:
        loss = F.binary_cross_entropy_with_logits(model(x), mask)            # 0 and 255
    Good:
        loss = F.binary_cross_entropy_with_logits(model(x), (mask > 0).float())
    """
    for calls in run.losses.by_place("binary_cross_entropy_with_logits"):
        plain = [call for call in calls if call.reduction != "none" and "weight" not in call.origins]
        looks = [call.look for call in plain if call.look is not None]
        spans = [(one.target_low, one.target_high) for one in looks]
        known = [(low, high) for low, high in spans if low is not None and high is not None]
        outside = [(low, high) for low, high in known if low < -_SLACK or high > 1 + _SLACK]
        if len(outside) < _FEWEST:
            continue
        low, high = min(low for low, _ in outside), max(high for _, high in outside)
        yield Proof(
            where=plain[0].place,
            message=f"the targets of binary cross entropy must be between 0 and 1, these are {low:.3g} to {high:.3g}",
            label=f"targets from {low:.3g} to {high:.3g}",
            evidence={"low": low, "high": high, "calls": len(outside)},
            fix="scale the targets to between 0 and 1 where they are read, for example mask / 255",
        )
