from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_TIMES = 3


@rule("data.interpolated-labels", severity="error")
def interpolated_labels(run: Evidence) -> Iterator[Proof]:
    """Class labels are resized like an image: between class 1 and class 5 a class 3 appears.

    Why it matters: bilinear interpolation averages the ids of neighboring classes and cuts the result off, so borders
    get labels of classes that are not there.

    What to do: resize label masks with `mode="nearest"`.

    How it is found: whole numbers, more than two and at most 64 different ones, went into an interpolation that made
    fractions of them, and the result was turned into 64-bit integers, in at least three masks.

    Bad:
        mask = F.interpolate(mask.float(), size, mode="bilinear").long()
    Good:
        mask = F.interpolate(mask.float(), size, mode="nearest").long()
    """
    for found in run.interpolated_labels.all:
        if found.count < _TIMES:
            continue
        yield Proof(
            where=found.place,
            message=f"{found.values} different labels are interpolated ({found.mode}) and truncated to integers "
            "again: borders get classes that are not there",
            label="fractional class ids are truncated here",
            evidence={"mode": found.mode, "labels": found.values, "times": found.count},
            fix='resize labels with mode="nearest"',
            related=[(found.interpolated, "interpolated here")] if found.interpolated is not None else [],
        )
