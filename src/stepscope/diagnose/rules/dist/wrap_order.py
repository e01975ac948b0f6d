from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.ownership import orphans, strangers
from stepscope.diagnose.rule import Proof, rule


@rule("dist.wrap-order", severity="error")
def wrap_order(run: Evidence) -> Iterator[Proof]:
    """The optimizer was built before the model was sharded, so it holds parameters that are no longer there.

    Why it matters: `fully_shard` and FullyShardedDataParallel put new, sharded parameters in the place of the old ones.
    An optimizer made before that updates the old ones: the loss stays where it is.

    What to do: shard (and move) the model first, then build the optimizer over its parameters.

    How it is found: the optimizer's parameters are in no model any more and get no gradient, while the sharded ones
    get gradients, never change, and are in no optimizer.

    Bad:
        optimizer = torch.optim.AdamW(model.parameters())
        fully_shard(model)
    Good:
        fully_shard(model)
        optimizer = torch.optim.AdamW(model.parameters())
    """
    lost = [one for one in orphans(run) if any(run.distributed.is_sharded(p) for p in one.parameters)]
    if not lost:
        return
    for made in run.optimizers.made:
        if not run.steps.of_optimizer(made.number):
            continue
        strange = strangers(run, made)
        gone = sum(ref() is None for ref in made.parameters)
        if not strange and not gone:
            continue
        yield Proof(
            where=made.place,
            message="the optimizer was built before the model was sharded: it does not have the sharded parameters",
            label=f"{len(strange) + gone} of its {len(made.parameters)} parameters are no longer in the model",
            evidence={"not_in_model": len(strange) + gone, "never_updated": lost[0].names[:20]},
            fix="build the optimizer after the model has been sharded",
        )
