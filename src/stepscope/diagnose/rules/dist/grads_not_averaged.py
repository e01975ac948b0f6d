from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.hangs import rank_names
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.ranks import Rank

_FEWEST_STEPS = 5


@rule(
    "dist.grads-not-averaged",
    severity="warning",
    needs="steps, end, crash",
    follows=("dist.bypass-ddp", "dist.param-divergence"),
)
def grads_not_averaged(run: Evidence) -> Iterator[Proof]:
    """The ranks begin with the same model and train it on different data, but never average their gradients.

    Why it matters: each rank trains its own model on a part of the data. The one that is saved has seen only that
    part, as if the other ranks did not exist.

    What to do: wrap the model with DistributedDataParallel, or average each gradient with `dist.all_reduce` between
    `backward()` and `step()`.

    How it is found: the parameters of all ranks are the same before the first step and differ on all of them some steps
    later, the model gets different data, and no collective was called on gradients or parameters. Ranks that begin with
    different weights (an ensemble) or with the same data (a search over settings) are let pass.

    Bad:
        dist.init_process_group("gloo")
        loss.backward(); optimizer.step()
    Good:
        model = DistributedDataParallel(net)
        loss.backward(); optimizer.step()
    """
    ranks = run.ranks.all
    if len(ranks) < 2 or len(ranks) < min(ranks[0].size, 2) or any(_is_joint(one) for one in ranks):
        return
    first, others = ranks[0], ranks[1:]
    steps = sorted(set(first.weights).intersection(*(one.weights for one in others)))
    if len(steps) < 2 or steps[-1] < _FEWEST_STEPS or not _same(ranks, steps[0]):
        return
    last = steps[-1]
    if not all(_apart(first, one, last) and _fed_differently(first, one) for one in others):
        return
    yield Proof(
        where=first.weights[last].backward,
        message=f"{rank_names(one.rank for one in ranks)} train the same model separately: gradients are never averaged",
        label=f"the weights were the same at step {steps[0]} and differ on all ranks at step {last}",
        evidence={"ranks": [one.rank for one in ranks], "same_at": steps[0], "apart_at": last},
        fix="wrap the model with DistributedDataParallel, or average the gradients with dist.all_reduce",
        related=[(first.weights[last].made, "the model is made here")],
    )


def _is_joint(rank: Rank) -> bool:
    return bool(rank.wraps or rank.parts or rank.synced) or not rank.fed


def _same(ranks: list[Rank], step: int) -> bool:
    first = ranks[0].weights[step]
    return all(
        (one.weights[step].names, one.weights[step].digests) == (first.names, first.digests) for one in ranks[1:]
    )


def _apart(one: Rank, other: Rank, step: int) -> bool:
    mine, theirs = one.weights[step], other.weights[step]
    return mine.names == theirs.names and not set(mine.digests) & set(theirs.digests)


def _fed_differently(one: Rank, other: Rank) -> bool:
    return all(mine.digest != theirs.digest for mine, theirs in zip(one.fed, other.fed, strict=False))
