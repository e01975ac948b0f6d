from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_ENOUGH = 3


@rule("dist.bypass-ddp", severity="error")
def bypass_ddp(run: Evidence) -> Iterator[Proof]:
    """The model inside DistributedDataParallel is called directly, so gradients are never averaged over the ranks.

    Why it matters: DistributedDataParallel prepares the exchange of gradients in its own `forward`. A forward pass
    through `.module` (or through the bare net) skips it: every rank trains a model of its own, and they drift apart.

    What to do: call the wrapper for every forward pass that is trained. `.module` is for saving and for evaluation.

    How it is found: the wrapper was never called with gradients on, while the module inside it was, each time followed
    by a backward, for at least three steps. Gradients that the script itself exchanges with collectives are let pass.

    Bad:
        model = DistributedDataParallel(net)
        loss = criterion(model.module(x), y)
    Good:
        model = DistributedDataParallel(net)
        loss = criterion(model(x), y)
    """
    for wrap in run.distributed.wraps:
        if wrap.calls or len(wrap.around) < _ENOUGH or run.progress.step < _ENOUGH:
            continue
        if run.collectives.exchanges_gradients:
            continue
        place, times = Counter(wrap.around).most_common(1)[0]
        yield Proof(
            where=place,
            message=f"the {wrap.inner} is called directly, bypassing DistributedDataParallel: its gradients are not averaged",
            label=f"called directly in {times} training steps; the wrapper in none",
            evidence={"direct_calls": len(wrap.around), "wrapper_calls": 0, "world_size": wrap.size},
            fix="call the DistributedDataParallel model itself: model(x), not model.module(x)",
            related=[(wrap.place, "wrapped here")],
            severity="error" if wrap.size > 1 else "warning",
        )
