from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("repro.no-seed", severity="info", needs="end")
def no_seed(run: Evidence) -> Iterator[Proof]:
    """No seed is set anywhere, so no two runs are the same.

    Why it matters: a difference between two runs may be chance, and a failure cannot be repeated.

    What to do: call `torch.manual_seed(seed)` once at the start, and log the seed.

    How it is found: the script trained and never seeded torch, numpy or Python's random numbers.

    Bad:
        model = Net()
    Good:
        torch.manual_seed(0)
        model = Net()
    """
    if run.global_settings.seeded or run.progress.step < 3 or not run.models.roots:
        return
    place = run.models.roots[0].module.made
    yield Proof(
        where=place,
        message="no seed is set: the run cannot be repeated",
        evidence={"seeds": 0},
        fix="call torch.manual_seed(0) before the model is made",
    )
