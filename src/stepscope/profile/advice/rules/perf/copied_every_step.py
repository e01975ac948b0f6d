from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip


@rule("perf.copied-every-step", needs="profile", device="gpu")
def copied_every_step(run: Measured) -> Iterator[Tip]:
    """The same tensor is copied to the device in every step.

    Why it matters: it has not changed since the last copy; each one makes the host wait and takes bandwidth
    from the batch.

    What to do: move it once, before the loop; a constant of a model belongs into a buffer (`register_buffer`).

    How it is found: one line moved the very same tensor object to the device in step after step.

    Bad:
        loss = F.cross_entropy(model(x), y, weight=class_weights.to(device))
    Good:
        class_weights = class_weights.to(device)    # before the loop
    """
    looked = int(run.facts.get("look", {}).get("steps", 0))
    for where, calls in run.by_line(run.calls(fetching=False)).items():
        again = [
            one for one in calls if one.get("target") not in (None, "cpu") and one.get("same", 0) >= looked - 1 > 0
        ]
        if not again:
            continue
        took = run.of_look(sum(one["ns"] for one in again))
        yield Tip(
            where=where,
            message="the same tensor is copied to the device in every step",
            fix="copy it once before the loop, or make it a buffer of the model",
            share=run.share(took),
            saving_ns=int(took),
            how="the time of these calls",
            evidence={"ms": round(took / 1e6, 3), "bytes": sum(one["bytes"] for one in again)},
            part="copy",
        )
