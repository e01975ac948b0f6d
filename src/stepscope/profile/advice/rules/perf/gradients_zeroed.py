from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip, Trial


@rule("perf.gradients-zeroed", needs="profile")
def gradients_zeroed(run: Measured) -> Iterator[Tip]:
    """Gradients are filled with zeros between steps instead of being dropped.

    Why it matters: filling them is a pass over all gradients, and backward must then add to them instead of
    writing them: two passes that `set_to_none` spares.

    What to do: `optimizer.zero_grad()`, without `set_to_none=False`.

    How it is found: `zero_grad(set_to_none=False)` in every step; the saving is its measured time.

    Bad:
        optimizer.zero_grad(set_to_none=False)
    Good:
        optimizer.zero_grad()
    """
    for found in run.facts.get("zero_grads", []):
        if found.get("set_to_none", True):
            continue
        time = int(run.facts.get("steps", {}).get("zero_grad_ns", 0))
        yield Tip(
            where=run.where(found),
            message="gradients are filled with zeros in every step",
            fix="zero_grad() without set_to_none=False",
            share=run.share(time),
            saving_ns=time,
            how="the time of zero_grad",
            evidence={"ms": round(time / 1e6, 3)},
            part="optimizer",
            trial=Trial("set_to_none", {}),
        )
        return
