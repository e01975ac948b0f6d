from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("amp.no-scale", severity="error", needs="crash", follows=("amp.no-update",))
def no_scale(run: Evidence) -> Iterator[Proof]:
    """A GradScaler's steps come in the wrong order, or one is missing.

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
            fix="call scaler.scale(loss).backward()",
            related=[(crash.site, "the scaler finds out here")],
        )
    elif crash.says(r"unscale_\(\) (has already been|is being) called", r"step\(\) has already been called since"):
        yield Proof(
            where=crash.site,
            message="the scaler was asked twice in one step: update() is missing, or unscale_() is called again",
            label="called again before update()",
            evidence={"error": crash.message[:200]},
            fix="call scaler.update() once at the end of every step, and unscale_() at most once before it",
        )
