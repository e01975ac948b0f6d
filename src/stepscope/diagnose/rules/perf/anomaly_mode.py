from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_STEPS = 15


@rule("perf.anomaly-mode", severity="warning")
def anomaly_mode(run: Evidence) -> Iterator[Proof]:
    """Anomaly detection is on for the whole training.

    Why it matters: it makes a step 1.5 to 5 times slower; it is meant for a few steps while hunting a NaN.

    What to do: remove it, and let `stepscope run` name the op that made the first NaN.

    How it is found: autograd's anomaly mode was on in every observed optimizer step, at least fifteen.

    Bad:
        torch.autograd.set_detect_anomaly(True)
    Good:
        # nothing: or only around the steps in question
    """
    steps = run.global_settings.anomaly_steps
    if steps < _STEPS or steps < run.global_settings.looked_steps:
        return
    yield Proof(
        where=run.global_settings.anomaly,
        message="anomaly detection is left on: every step pays for it",
        label=f"on in all {steps} steps checked",
        evidence={"steps": steps},
        edit=edits.remove(run.global_settings.anomaly) if run.trainer.name is None else None,
        fix="remove this line (or turn it on only for the steps you investigate)"
        if run.trainer.name is None
        else "leave out detect_anomaly=True (or keep it for a run of a few steps)",
    )
