from __future__ import annotations

import math
from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.gradient_clips import GradientClip


@rule(
    "opt.clip-before-backward", severity="error", follows=("opt.clip-exhausted-generator", "opt.step-before-backward")
)
def clip_before_backward(run: Evidence) -> Iterator[Proof]:
    """Gradients are clipped when there are none yet, or when the optimizer has already used them.

    Why it matters: nothing is clipped, however large the gradients are.

    What to do: clip between `backward()` and `optimizer.step()`.

    How it is found: at every call all gradients were missing or zero, or an optimizer with these parameters had stepped
    since the last backward.

    Bad:
        clip_grad_norm_(model.parameters(), 1.0)
        loss.backward()
        optimizer.step()
    Good:
        loss.backward()
        clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    """
    places: dict[object, list[GradientClip]] = {}
    for clip in run.gradient_clips.all:
        if clip.parameters and math.isfinite(clip.limit):  # no limit: somebody only wants to know the norm
            places.setdefault(clip.place, []).append(clip)
    for clips in places.values():
        empty, late = sum(clip.empty for clip in clips), sum(clip.after_step for clip in clips)
        if len(clips) < 4 or empty + late < len(clips) - (0 if empty else 1):
            continue
        when = "after the optimizer has stepped" if late > empty else "before backward has computed any"
        what = "the optimizer has already used these gradients" if late > empty else "all gradients are missing or zero"
        yield Proof(
            where=clips[0].place,
            message=f"{clips[0].function} runs {when}: nothing is clipped",
            label=f"{what}, {len(clips)} times in a row",
            evidence={"calls": len(clips), "without_gradients": empty, "after_step": late, "limit": clips[0].limit},
            edit=_moved(run, clips),
            fix="move this line between backward() and optimizer.step()",
        )


def _moved(run: Evidence, clips: list[GradientClip]) -> edits.Plan | None:
    steps = [step for step in run.steps.steps if step.place is not None and step.place.is_beside(clips[0].place)]
    return edits.move_before(clips[0].place, steps[0].place) if len({step.place for step in steps}) == 1 else None
