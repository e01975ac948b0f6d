from __future__ import annotations

import math
from collections.abc import Iterator

from stepscope.diagnose.crash.dtypes import loss_call
from stepscope.diagnose.crash.provenance import made_at
from stepscope.diagnose.crash.ranges import DEVICE_STOPPED
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("loss.bce-out-of-range", severity="error", needs="crash")
def bce_out_of_range(run: Evidence) -> Iterator[Proof]:
    """`BCELoss` was given scores instead of probabilities.

    Why it matters: it takes the logarithm of its input and of one minus it, so the input must lie between 0 and 1.

    What to do: use `BCEWithLogitsLoss` on the raw scores (it is also more exact), or put a sigmoid at the end.

    Bad:
        loss = nn.BCELoss()(model(x), y)
    Good:
        loss = nn.BCEWithLogitsLoss()(model(x), y)
    """
    crash = run.crash
    seen = None if crash is None or not crash.says(DEVICE_STOPPED) else run.indices.broken
    if crash is None:
        return
    site = crash.site
    found: tuple[float, float] | None
    if seen is not None and seen.op == "binary_cross_entropy":  # a device, lost by now; the watch had looked before
        which, found = seen.which, (seen.low, seen.high)
        site = site if seen.place is None else seen.place.site
    elif crash.says(r"all elements of (input|target) should be between 0 and 1"):
        which = "target" if crash.says(r"elements of target") else "input"
        call = loss_call(crash, "binary_cross_entropy")
        found = None if call is None else (call.target if which == "target" else call.input).extremes
    else:
        return
    span = "" if found is None else f"{found[0]:.3g} to {found[1]:.3g}"
    layer = crash.layer
    built = None if layer is None or layer.module.type != "BCELoss" else made_at(crash, layer.module)
    is_nan = found is not None and math.isnan(found[0])
    if is_nan:
        fix = f"find what makes the {which} NaN: 0 divided by 0, values that grew too large, missing data"
    elif which == "target":
        fix = "scale the targets to between 0 and 1"
    else:
        fix = "use BCEWithLogitsLoss (or binary_cross_entropy_with_logits), or end the model with a sigmoid"
    yield Proof(
        where=built or site,
        message=f"the {which} of binary cross entropy must be between 0 and 1, but it contains NaN"
        if is_nan
        else f"the {which} of binary cross entropy must be between 0 and 1" + (f", it is {span}" if span else ""),
        label="NaN" if is_nan else span,
        evidence={"which": which, "range": list(found) if found and not is_nan else None},
        edit=None if is_nan or which == "target" else tensors.called_otherwise(built or site, _WITH_LOGITS),
        fix=fix,
        related=[] if built is None else [(site, "it is computed here")],
    )


_WITH_LOGITS = {"binary_cross_entropy": "binary_cross_entropy_with_logits", "BCELoss": "BCEWithLogitsLoss"}
