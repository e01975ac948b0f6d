from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_ENOUGH = 5
_SHARE = 0.8


@rule("grad.saturated", severity="info", follows=("num.*", "data.unscaled-input", "grad.vanishing"))
def saturated(run: Evidence) -> Iterator[Proof]:
    """A hidden tanh or sigmoid is saturated nearly all the time, where its slope is almost zero.

    Why it matters: hardly any gradient passes, so the layers before it learn very slowly.

    What to do: smaller initial weights (Xavier), inputs of mean 0 and size 1, or normalization before it.

    How it is found: in at least five calls, from the first one on, about four of five values or more were within one
    percent of an end.

    Bad:
        nn.init.normal_(layer.weight, std=3.0)
    Good:
        nn.init.xavier_normal_(layer.weight)
    """
    for one in run.activations.all.values():
        if one.op not in ("tanh", "sigmoid") or not one.inside or len(one.shares) < _ENOUGH or one.first_step > 3:
            continue
        share = sum(one.shares) / len(one.shares)
        if share < _SHARE or min(one.shares) < 0.5:
            continue
        yield Proof(
            where=one.place,
            message=f"{share:.0%} of the values of this {one.op} are saturated: almost no gradient passes",
            label=f"in each of {len(one.shares)} batches",
            evidence={"shares": one.shares, "module": one.path},
            fix="start from smaller weights, or normalize what goes in",
        )
