from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip


@rule("perf.recompiles", needs="profile")
def recompiles(run: Measured) -> Iterator[Tip]:
    """Compiled code is compiled again in the middle of training.

    Why it matters: each compilation stops the training for seconds, and after a few the compiler gives up and runs the
    code uncompiled.

    What to do: keep shapes the same (`drop_last=True`, padding to a few lengths), `torch.compile(model,
    dynamic=True)`, `mark_dynamic`; no Python numbers that change from step to step. `TORCH_LOGS=recompiles`
    names each cause.

    How it is found: the compiler had made more graphs late in the training than after its first steps, or has reported
    that it gave up. The saving is what steps take on average beyond the median step.

    Bad:
        model = torch.compile(model)          # and batches of ever new lengths
    Good:
        model = torch.compile(model, dynamic=True)
    """
    compiled = run.facts.get("compile", {})
    graphs = [int(one["graphs"]) for one in run.facts.get("memory", []) if one.get("graphs") is not None]
    later = graphs[-1] - graphs[0] if len(graphs) >= 2 else 0
    gave_up = int(compiled.get("recompile_limit", 0))
    if not compiled.get("used") or (later < 2 and not gave_up):
        return
    steps = run.facts.get("steps", {})
    lost = max(0, int(steps.get("mean_ns", 0)) - int(steps.get("median_ns", 0)))
    share = lost / int(steps["mean_ns"]) if steps.get("mean_ns") else 0.0
    yield Tip(
        where=None,
        message=f"{later} more graphs were compiled after the first steps"
        + (", and the compiler gave up" * bool(gave_up)),
        fix="keep shapes the same, or torch.compile(model, dynamic=True)",
        share=max(share, 0.02),
        saving_ns=min(lost, run.step_ns),
        how="the mean step less the median step",
        evidence={"graphs": graphs[-1] if graphs else 0, "later": later, "breaks": compiled.get("breaks", 0)},
        part="compile",
    )
