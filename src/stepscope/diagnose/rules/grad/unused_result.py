from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.name_use import fate_of_name
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.starving import never_fed

_STEPS = 3


@rule("grad.unused-result", severity="warning", follows=("grad.detached-needed", "autograd.*", "loss.overwritten"))
def unused_result(run: Evidence) -> Iterator[Proof]:
    """What a layer computes in the forward pass is never used, so the layer never learns.

    Why it matters: an embedding that is computed and not added, or an attention output that is not passed on, leaves
    the model without what it was meant to know. Nothing fails: the rest of the model trains around it.

    What to do: use the result where it belongs, or remove the layer.

    How it is found: in at least three steps the result was freed without any operation having read it, and parameters
    it was computed from, which the optimizer holds, never got a gradient and never changed.

    Bad:
        shift = self.time(t)[:, :, None, None]
        h = self.conv(h)
    Good:
        shift = self.time(t)[:, :, None, None]
        h = self.conv(h + shift)
    """
    said: set[int] = set()
    for unused in run.unused_results.all:
        if unused.steps < _STEPS or unused.origin.shape in ((), (1,)):
            continue
        starved = [one for one in never_fed(run, unused.starving) if id(one) not in said]
        if not starved:
            continue
        said.update(map(id, starved))
        use = fate_of_name(run.source, unused.place)
        names = [parameter.title for parameter in starved]
        called = f"`{use.name}`" if use is not None else "the result computed here"
        yield Proof(
            where=unused.place,
            message=f"{called} is never used, so {', '.join(names[:3])}{' ...' if len(names) > 3 else ''} never learn",
            label=f"computed {unused.count} times and thrown away",
            evidence={"parameters": names[:20], "steps": unused.steps, "results": unused.count},
            fix=f"use {called} in the return value, or remove it",
            # What a model returns may be left aside by who calls it, on purpose.
            severity=None if use is not None else "info",
        )
