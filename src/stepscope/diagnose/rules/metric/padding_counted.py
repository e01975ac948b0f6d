from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.padded_scores import PaddedScores

_SHARE = 0.05


@rule("metric.padding-counted", severity="warning")
def padding_counted(run: Evidence) -> Iterator[Proof]:
    """An accuracy counts positions that the loss ignores.

    Why it matters: padding is right every time or wrong every time, so the number says more about the lengths of the
    sequences than about the model.

    What to do: count only the positions that matter: `(pred == target)[target != PAD].float().mean()`.

    How it is found: the loss has an `ignore_index` that some targets have. Predictions are compared with targets, at
    least 5% of which are that number, and the mean of the comparison is taken over all of them; or the sum, and it
    counts some of them as right.

    Bad:
        loss = F.cross_entropy(logits.transpose(1, 2), tags, ignore_index=PAD)
        accuracy = (logits.argmax(-1) == tags).float().mean()
    Good:
        accuracy = (logits.argmax(-1) == tags)[tags != PAD].float().mean()
    """
    for one in run[PaddedScores].all:
        if one.share < _SHARE or (one.op == "sum" and one.right < _SHARE):
            continue
        counted = f"{one.right:.0%} of all positions count as right though" if one.right else "they all count as wrong:"
        yield Proof(
            where=one.place,
            message=f"{one.share:.0%} of these targets are {one.ignored}, which the loss ignores; {counted} "
            "nothing was learned about them",
            label="counts what the loss ignores",
            evidence={"ignored": one.ignored, "share": round(one.share, 3), "right": round(one.right, 3)},
            fix=f"compare only where the target is not {one.ignored}",
            related=[(one.loss, f"the loss ignores {one.ignored} here")],
        )
