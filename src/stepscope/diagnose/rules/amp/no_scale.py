from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from stepscope.diagnose import edits
from stepscope.diagnose.crash.hidden_state import in_loop
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import Source, SourceFile


@rule("amp.no-scale", severity="error", needs="crash", follows=("amp.no-update",))
def no_scale(run: Evidence) -> Iterator[Proof]:
    """A GradScaler's methods are called in the wrong order, or one call is missing.

    Why it matters: the scaler needs `scale(loss).backward()`, then at most one `unscale_`, then `step`, then `update`.

    What to do: keep that order, once per optimizer and step.

    Bad:
        loss.backward()
        scaler.step(optimizer)
    Good:
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    """
    crash = run.crash
    if crash is None or not crash.is_a("AssertionError", "RuntimeError"):
        return
    backward = run.steps.backwards[-1].place if run.steps.backwards else None
    if crash.says(r"no inf checks were recorded", r"attempted \w+ but _scale is none"):
        yield Proof(
            where=backward or crash.site,
            message="the loss was not scaled before backward, so the scaler has nothing to undo",
            label="backward on the unscaled loss",
            evidence={"error": crash.message[:200]},
            edit=_scaled(backward, crash.site),
            fix="call scaler.scale(loss).backward()",
            related=[(crash.site, "the scaler finds out here")],
        )
    elif crash.says(r"unscale_\(\) (has already been|is being) called", r"step\(\) has already been called since"):
        looped = next((frame for frame in reversed(crash.own) if in_loop(frame)), None)
        where = crash.site if looped is None else looped.site
        yield Proof(
            where=where,
            message="the scaler was called twice in one step: update() is missing, or unscale_() is called again",
            label="called again before update()",
            evidence={"error": crash.message[:200]},
            fix="call scaler.update() once at the end of every step, and unscale_() at most once before it",
            related=[(crash.site, "the scaler finds out here")] if where is not crash.site else [],
        )


def _scaled(backward: Any, step: Any) -> edits.Plan:
    def plan(source: Source) -> Sequence[edits.Span] | None:
        found = edits.find(source, step)
        if found is None or not isinstance(found[1], ast.Call) or not isinstance(found[1].func, ast.Attribute):
            return None
        scaler = edits.text_of(found[0], found[1].func.value)
        return edits.call_replaced(backward, partial(_of_scaler, scaler=scaler))(source)

    return plan


def _of_scaler(file: SourceFile, call: ast.Call, scaler: str) -> str | None:
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "backward" or call.args:
        return None
    return f"{scaler}.scale({edits.text_of(file, call.func.value)}).backward()"
