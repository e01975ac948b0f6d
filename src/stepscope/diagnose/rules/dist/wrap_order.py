from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_ENOUGH = 3
_LOOKED_AT = 20


@rule("dist.wrap-order", severity="error")
def wrap_order(run: Evidence) -> Iterator[Proof]:
    """The optimizer was built before the model was sharded, so it holds parameters that are no longer there.

    Why it matters: `fully_shard` and FullyShardedDataParallel put new, sharded parameters in the place of the old ones.
    An optimizer made before that updates the old ones: the loss stays where it is.

    What to do: shard (and move) the model first, then build the optimizer over its parameters.

    How it is found: at each of its steps none of the optimizer's parameters has a gradient, while sharded parameters of
    the model have one and are in no optimizer.

    Bad:
        optimizer = torch.optim.AdamW(model.parameters())
        fully_shard(model)
    Good:
        fully_shard(model)
        optimizer = torch.optim.AdamW(model.parameters())
    """
    for number, steps in run.distributed.stale.items():
        made = run.optimizers.of(number)
        if len(steps) < _ENOUGH or len(steps) < min(run.progress.step, _LOOKED_AT) - 1:
            continue
        yield Proof(
            where=made.place,
            message="the optimizer was built before the model was sharded: it does not have the sharded parameters",
            label=f"none of its {len(made.parameters)} parameters has a gradient in {len(steps)} steps",
            evidence={"steps": len(steps), "never_updated": steps[0][:20]},
            fix="build the optimizer after the model has been sharded",
        )
