from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.device_causes import causes
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("device.batch-not-moved", severity="error", needs="steps, crash")
def batch_not_moved(run: Evidence) -> Iterator[Proof]:
    """The model is moved to the chosen device, a part of the batch is not.

    Why it matters: on a GPU the first step dies with "Expected all tensors to be on the same device".

    What to do: move every tensor of the batch: `x, y = x.to(device), y.to(device)`.

    How it is found: a tensor that a loader delivered (or that was prepared as data) is never moved and meets one that
    was.

    Bad:
        for x, y in loader:
            loss = criterion(model(x.to(device)), y)
    Good:
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            loss = criterion(model(x), y)
    """
    for cause in causes(run, "batch"):
        met = cause.meeting.place.site if cause.meeting.place is not None else None
        yield Proof(
            where=cause.where,
            message="a tensor of the batch is not moved to the device the model is on",
            label=f"its {list(cause.root.shape)} {cause.root.dtype} tensor is never moved",
            evidence={
                "shape": list(cause.root.shape),
                "dtype": cause.root.dtype,
                "op": cause.meeting.op,
                "meets_at_line": None if met is None else met.line,
            },
            fix="call .to(device) on every tensor of the batch before it is used",
            related=[(cause.meeting.place, "it meets a tensor on the chosen device here")],
        )
