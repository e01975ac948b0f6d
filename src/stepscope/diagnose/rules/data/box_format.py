from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.box_arithmetic import BoxArithmetic

_SHARE = 0.1
_LOOKS = 3


@rule("data.box-format", severity="error")
def box_format(run: Evidence) -> Iterator[Proof]:
    """Boxes given as center and size are read as two corners.

    Why it matters: the right edge comes out left of the left one, so areas and overlaps are wrong, and what is matched
    or trained with them is nearly random.

    What to do: convert the boxes first (`torchvision.ops.box_convert(boxes, "cxcywh", "xyxy")`, or center minus and
    plus half the size).

    How it is found: the width and height of boxes of the data are computed as differences between parts of one tensor
    and multiplied, and at least one difference in ten is negative, in three looks.

    Bad:
        overlap = box_iou(predicted_corners, boxes)      # boxes: center x, center y, width, height
    Good:
        overlap = box_iou(predicted_corners, to_corners(boxes))
    """
    seen: set[object] = set()
    for one in run[BoxArithmetic].all:
        if one.kind != "size" or one.looks < _LOOKS or one.negative < _SHARE or one.around in seen:
            continue
        seen.add(one.around)
        yield Proof(
            where=one.around,
            message=f"{one.negative:.0%} of the widths and heights of these boxes are negative: they are read as "
            "corners, but are in another format",
            label="boxes in another format than the function reads",
            evidence={"negative": round(one.negative, 3), "looks": one.looks},
            fix="convert the boxes to corners (x1, y1, x2, y2) before they are passed",
            related=[(one.place, "the width and height are multiplied here")],
        )
