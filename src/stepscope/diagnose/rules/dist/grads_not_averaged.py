from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.units import counted, listed
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
    """The ranks begin with the same model and train it on different data, but gradients are never averaged.

    Why it matters: each rank trains its own model on a part of the data. The one that is saved has seen only that
    part, as if the other ranks did not exist.

    What to do: wrap the model with DistributedDataParallel, or average each gradient with `dist.all_reduce` between
    `backward()` and `step()`.

    How it is found: the parameters of all ranks are the same before the first step and differ on all of them some steps
    later, the model gets different data, and no collective was called on gradients or parameters, or only on the gradients
    of other parameters. Ranks that begin with different weights (an ensemble), with the same data (a search over
    settings), or that send samples to each other (experts) are let pass.

    Bad:
        dist.init_process_group("gloo")
        loss.backward(); optimizer.step()
    Good:
        model = DistributedDataParallel(net)
        loss.backward(); optimizer.step()
    """
    ranks = run.ranks.all
    if len(ranks) < 2:
        return
    if any(_is_joint(one) for one in ranks):
        yield from _left_out(ranks)
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


def _left_out(ranks: list[Rank]) -> Iterator[Proof]:
    """Some parameters whose gradients are never averaged, while those of others are."""
    if any(one.wraps or one.parts or not one.fed or not _averaged(one) or _sends_samples(one) for one in ranks):
        return
    first, others = ranks[0], ranks[1:]
    steps = sorted(set(first.weights).intersection(*(one.weights for one in others)))
    if len(steps) < 2 or steps[-1] < _FEWEST_STEPS or not _same(ranks, steps[0]):
        return
    if not all(_fed_differently(first, one) for one in others):
        return
    last = first.weights[steps[-1]]
    theirs = [dict(zip(one.weights[steps[-1]].names, one.weights[steps[-1]].digests, strict=True)) for one in others]
    apart = [
        name
        for name, digest in zip(last.names, last.digests, strict=True)
        if name not in _averaged(first) and all(one.get(name) not in (None, digest) for one in theirs)
    ]
    if not apart:
        return
    names = [name.partition(":")[2] for name in apart]
    call = next(sync for sync in first.synced if sync.what == "grads")
    yield Proof(
        where=call.place,
        message=f"the gradients of {listed(names, most=4)} are never averaged over {rank_names(r.rank for r in ranks)}",
        label=f"{call.call} averages those of {counted(len(_averaged(first)), 'other parameter')} only",
        evidence={"parameters": names[:10], "same_at": steps[0], "apart_at": steps[-1]},
        fix="average the gradients of all parameters, or wrap the model with DistributedDataParallel",
    )


def _averaged(rank: Rank) -> set[str]:
    """The parameters whose gradients are averaged one by one; none where parameters or all gradients at once are."""
    syncs = [sync for sync in rank.synced if sync.what == "grads" or sync.step > 0]
    if any(sync.what != "grads" or not sync.names for sync in syncs):
        return set()
    return {name for sync in syncs for name in sync.names}


def _sends_samples(rank: Rank) -> bool:
    return any(call.name.startswith("all_to_all") for call in rank.called)


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
