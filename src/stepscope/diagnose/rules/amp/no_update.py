from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.edits.loop import call_on
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("amp.no-update", severity="error", needs="crash, steps")
def no_update(run: Evidence) -> Iterator[Proof]:
    """The gradient scaler steps but is never updated.

    Why it matters: its scale never adapts, and after one overflow every step is skipped; newer versions of torch stop
    with "step() has already been called since the last update()".

    What to do: call `scaler.update()` once after `scaler.step(optimizer)`.

    How it is found: `step` of one scaler was called twice or more and `update` never, or torch's own check says so.

    Bad:
        scaler.step(optimizer)
    Good:
        scaler.step(optimizer)
        scaler.update()
    """
    for scaling in run.global_settings.scalers:
        steps = [call for call in scaling.calls if call.name == "step"]
        if not scaling.enabled or any(call.name == "update" for call in scaling.calls):
            continue
        if len({call.backwards for call in steps}) < 2:
            continue
        yield Proof(
            where=steps[0].place,
            message=f"the scaler has stepped {len(steps)} times and was never updated",
            label="update() is missing after this",
            evidence={"steps": len(steps), "updates": 0},
            edit=call_on("update", steps[0].place, used=steps[0].place, after=True),
            fix="call scaler.update() after this line",
        )
