from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_STEPS = 6


@rule("mem.hook-leak", severity="error")
def hook_leak(run: Evidence) -> Iterator[Proof]:
    """Hooks are registered in every step and never removed.

    Why it matters: each step runs all hooks of the steps before; it gets slower and slower and keeps what they hold.

    What to do: register once, before the loop, or call `.remove()` on the handle.

    How it is found: the number of hooks on the model grows in every step.

    Bad:
        for x, y in loader:
            model.layer.register_forward_hook(keep)
    Good:
        model.layer.register_forward_hook(keep)
        for x, y in loader: ...
    """
    counts = run.retained_graphs.hooks
    if len(counts) < _STEPS + 1:
        return
    recent = counts[-_STEPS - 1 :]
    if any(after <= before for before, after in pairwise(recent)):
        return
    place, times = max(run.retained_graphs.registered.items(), key=lambda item: item[1], default=(None, 0))
    yield Proof(
        where=place,
        message="hooks pile up: this line registers another one in every step",
        label=f"{times} registered so far, {counts[-1]} on the model now",
        evidence={"hooks": recent},
        edit=tensors.hoisted(place),
        fix="register the hook once before the loop, or remove its handle after use",
    )
