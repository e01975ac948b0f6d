from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import Source

_TIMES = 3


@rule("amp.clip-scaled-grads", severity="error")
def clip_scaled_grads(run: Evidence) -> Iterator[Proof]:
    """Gradients are clipped before they are unscaled.

    Why it matters: they are tens of thousands of times too large, so clipping shrinks every update to almost nothing.

    What to do: call `scaler.unscale_(optimizer)` before clipping.

    How it is found: `clip_grad_norm_` or `clip_grad_value_` runs between the backward of a scaled loss and the scaler's
    `step`, without `unscale_`, step after step.

    Bad:
        scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
    Good:
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
    """
    for scaling in run.global_settings.scalers:
        if not scaling.enabled or not run.gradient_clips.all:
            continue
        scaled = [
            clip for clip in run.gradient_clips.all if scaling.last_before(clip.time) == "scale" and not clip.empty
        ]
        if len(scaled) < _TIMES or len(scaled) < len(run.gradient_clips.all) - 1:
            continue
        yield Proof(
            where=scaled[0].place,
            message="gradients are clipped before they are unscaled",
            label=f"they are {scaling.scale:g} times too large here" if scaling.scale else "still scaled here",
            evidence={"times": len(scaled), "scale": scaling.scale},
            edit=_unscaled(scaling, scaled[0].place),
            fix="call scaler.unscale_(optimizer) before this line",
        )


def _unscaled(scaling: Any, clip: Any) -> edits.Plan | None:
    """`scaler.unscale_(optimizer)`, as the line that steps names both."""
    steps = [call for call in scaling.calls if call.name == "step"]
    if not steps:
        return None

    def plan(source: Source) -> Sequence[edits.Span] | None:
        found = edits.find(source, steps[0].place)
        if found is None or not isinstance(found[1], ast.Call) or not isinstance(found[1].func, ast.Attribute):
            return None
        file, call = found
        given = edits.text_of(file, call.args[0]) if len(call.args) == 1 else ""
        scaler = edits.text_of(file, call.func.value)
        return edits.before(clip, f"{scaler}.unscale_({given})")(source) if given else None

    return plan
