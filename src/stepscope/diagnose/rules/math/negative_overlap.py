from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.box_arithmetic import BoxArithmetic

_LOOKS = 3


@rule("math.negative-overlap", severity="error")
def negative_overlap(run: Evidence) -> Iterator[Proof]:
    """The overlap of boxes that do not touch comes out positive: two negative lengths are multiplied.

    Why it matters: boxes far apart seem to overlap the more the farther they are, so an IoU loss pulls predictions
    away, and an IoU metric is too high.

    What to do: `.clamp(min=0)` the width and the height of the overlap before multiplying them.

    How it is found: two differences between a minimum and a maximum were multiplied, and both were negative for some
    of the boxes, in at least three looks.

    Bad:
        wh = torch.minimum(a[:, 2:], b[:, 2:]) - torch.maximum(a[:, :2], b[:, :2])
        overlap = wh[:, 0] * wh[:, 1]
    Good:
        wh = (torch.minimum(a[:, 2:], b[:, 2:]) - torch.maximum(a[:, :2], b[:, :2])).clamp(min=0)
        overlap = wh[:, 0] * wh[:, 1]
    """
    for one in run[BoxArithmetic].all:
        if one.kind == "overlap" and one.looks >= _LOOKS and one.negative > 0:
            yield Proof(
                where=one.place,
                message=f"for {one.negative:.0%} of the pairs both lengths of the overlap are negative, and their "
                "product is a positive overlap of boxes that do not touch",
                label="negative times negative",
                evidence={"negative": round(one.negative, 4), "looks": one.looks},
                fix="clamp the width and the height of the overlap at 0 before this product",
            )
