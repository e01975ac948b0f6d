from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.retrievals import Retrievals


@rule("metric.self-retrieval", severity="error")
def self_retrieval(run: Evidence) -> Iterator[Proof]:
    """The nearest neighbor of every sample is the sample itself.

    Why it matters: nothing is as close to a vector as the vector itself, so the first hit is right every time, and the
    score is 1 whatever the model has learned.

    What to do: leave the sample itself out: `distances.fill_diagonal_(float("inf"))` before `argmin` (minus infinity
    for similarities), or take `k + 1` neighbors and drop the first.

    How it is found: the best column of each row of a matrix that compares a set of vectors with itself is the row's own
    number, every time, and labels are looked up or compared with it.

    Bad:
        nearest = torch.cdist(z, z).argmin(1)
        recall = (labels[nearest] == labels).float().mean()
    Good:
        nearest = torch.cdist(z, z).fill_diagonal_(float("inf")).argmin(1)
    """
    for one in run[Retrievals].all:
        if not one.used or one.itself < one.looks:
            continue
        yield Proof(
            where=one.place,
            message=f"the nearest of all {one.rows:,} samples is the sample itself each time: the vectors are searched "
            "among themselves",
            label="picks each row's own number",
            evidence={"rows": one.rows, "looks": one.looks, "op": one.op},
            fix="leave the diagonal out first: fill_diagonal_ with inf (of similarities with -inf)",
            related=[(one.product, "the vectors are compared with themselves here")]
            if one.product is not None and one.product is not one.place
            else [],
        )
