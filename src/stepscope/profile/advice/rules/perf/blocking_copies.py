from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip, Trial

_CALL_NS = 20_000


@rule("perf.blocking-copies", needs="profile", device="gpu")
def blocking_copies(run: Measured) -> Iterator[Tip]:
    """The host waits for the copy of a batch that could run beside it.

    Why it matters: out of pinned memory a copy needs no attention, but without `non_blocking=True` the host
    waits for its end, and for everything the device had to do before.

    What to do: `x.to(device, non_blocking=True)`.

    How it is found: a line moves pinned tensors to the device in every step without `non_blocking`; the saving
    is the time of those calls.

    Bad:
        x = x.to(device)
    Good:
        x = x.to(device, non_blocking=True)
    """
    for where, calls in run.by_line(run.calls("to", "cuda", fetching=False)).items():
        waiting = [one for one in calls if one.get("pinned", 0) >= 0.5 and one.get("non_blocking", 0) < one["calls"]]
        waiting = [one for one in waiting if one.get("target") not in (None, "cpu") and one["every_step"]]
        took = run.of_look(sum(one["ns"] for one in waiting))
        count = sum(one["calls"] for one in waiting)
        if not waiting:
            continue
        yield Tip(
            where=where,
            message="the host waits here until the batch is on the device",
            fix="add non_blocking=True",
            share=run.share(took),
            saving_ns=int(took - count * _CALL_NS),
            how="the time of these calls, less what starting a copy takes",
            evidence={"calls": count, "ms": round(took / 1e6, 3), "bytes": sum(one["bytes"] for one in waiting)},
            part="copy",
            trial=Trial("non_blocking", {}),
        )
