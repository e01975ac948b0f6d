from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.ranks import Rank, Weights

_SMALLEST = 1e-4
"""As a share of a parameter's size: below it, different hardware may have rounded differently."""


@rule(
    "dist.param-divergence",
    severity="error",
    needs="steps, end, crash",
    follows=("dist.bypass-ddp", "dist.collective-mismatch"),
)
def param_divergence(run: Evidence) -> Iterator[Proof]:
    """The ranks exchange gradients, but their parameters differ: each trains its own model.

    Why it matters: averaged gradients fit only models that are the same. With different weights the average is the
    gradient of none of them, and the checkpoint of rank 0 is one of several different models.

    What to do: begin with the same weights on all ranks: seed before the model is made, or broadcast the parameters
    from rank 0 (DistributedDataParallel does), and change them only by steps that all ranks take.

    How it is found: the values of the parameters whose gradients are exchanged are compared between ranks before the
    first step and after some of the next ones; they are never the same again. Scripts that average parameters instead
    of gradients, and parameters that are sharded on purpose, are let pass.

    Bad:
        torch.manual_seed(1234 + rank)
        model = Net()                        # and then all_reduce of the gradients
    Good:
        torch.manual_seed(1234)
        model = Net()
    """
    ranks = [one for one in run.ranks.all if one.shares_gradients and one.weights]
    if len(ranks) < 2 or any(one.what == "params" and one.step > 0 for rank in ranks for one in rank.synced):
        return
    first = ranks[0]
    for other in ranks[1:]:
        steps = sorted(set(first.weights) & set(other.weights))
        apart = [step for step in steps if _differ(first, other, step)]
        # Apart once and for all, and trained since: an average now and then brings them together again.
        if not apart or apart != steps[-len(apart) :] or apart[-1] < 1:
            continue
        names = _differ(first, other, apart[0])
        shown, made = names[0].partition(":")[2], first.weights[apart[0]].made
        since = "from the start" if apart[0] == steps[0] else f"since step {apart[0]}"
        yield Proof(
            where=made,
            message=f"the parameters of ranks {first.rank} and {other.rank} differ {since}, yet gradients are averaged",
            label=f"{shown} and {len(names) - 1} more differ" if len(names) > 1 else f"{shown} differs",
            evidence={"steps": apart, "parameters": [name.partition(":")[2] for name in names[:10]]},
            fix="create the model with the same seed on all ranks, or broadcast its parameters from rank 0"
            if apart[0] == steps[0]
            else "change the parameters only in the common steps, equally on all ranks",
        )
        return


def _differ(rank: Rank, other: Rank, step: int) -> list[str]:
    """The parameters that are not the same after this many steps, of those that should be."""
    mine, theirs = rank.weights[step], other.weights[step]
    if mine.names != theirs.names:
        return []
    shared = {name for one in rank.synced if one.what == "grads" for name in one.names}
    return [
        name
        for index, name in enumerate(mine.names)
        if (rank.wraps or not shared or name in shared) and _is_apart(mine, theirs, index)
    ]


def _is_apart(mine: Weights, theirs: Weights, index: int) -> bool:
    if mine.digests[index] == theirs.digests[index]:
        return False
    pairs = list(zip(mine.values[index], theirs.values[index], strict=False))
    largest = max((max(abs(a), abs(b)) for a, b in pairs), default=0.0)
    return any(abs(a - b) > _SMALLEST * largest for a, b in pairs)
