from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stepscope.common.units import counted, listed
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.ranks import Pace, Rank, Synced, Weights

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
    from rank 0 (DistributedDataParallel does), and change them only by steps that all ranks take, with the same
    learning rate. Change the model before DistributedDataParallel wraps it.

    How it is found: the values of the parameters whose gradients are exchanged are compared between ranks before the
    first step and after some of the next ones; they are never the same again. The cause is named where the ranks' learning
    rates or numbers of backward passes for as many steps differ, where only some have loaded weights, where gradients are
    reduced to one rank only, averaged after the step that uses them or left alone by `no_sync()`, or where only parameters
    differ that the wrapper does not know. Scripts that average parameters instead of gradients, and parameters that are sharded on purpose, are let pass.

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
        since = "from the start" if apart[0] == steps[0] else f"since step {apart[0]}"
        proof = _with_cause(first, other, apart[0]) or _without_cause(first, other, apart[0], apart[0] == steps[0])
        yield replace(
            proof,
            message=f"the parameters of ranks {first.rank} and {other.rank} differ {since}{proof.message}",
            evidence={"steps": apart, **proof.evidence},
        )
        return


def _with_cause(first: Rank, other: Rank, step: int) -> Proof | None:
    """What the ranks have done differently by the step at which their parameters differ."""
    mine, theirs = first.paces.get(step), other.paces.get(step)
    if mine is None or theirs is None:
        return None
    names = [name.partition(":")[2] for name in _differ(first, other, step)]
    if mine.late and set(names) <= set(mine.late):
        return _late(mine, names)
    if mine.loads != theirs.loads and 0 in (mine.loads, theirs.loads):
        return _loaded(first.rank, mine, other.rank, theirs)
    if step == 0:
        return None
    if (one := next((sync for sync in first.synced if sync.call.startswith("reduce(")), None)) is not None:
        return _reduced(one)
    if mine.unsynced:
        return _unsynced(mine)
    grads = [sync for sync in first.synced if sync.what == "grads"]
    if grads and not first.wraps and all(sync.is_late for sync in grads):
        return _too_late(grads[0], mine)
    if mine.rates != theirs.rates and len(mine.rates) == len(theirs.rates):
        return _rates(first.rank, mine, other.rank, theirs)
    if mine.backwards != theirs.backwards and _were_level(first, other, step):
        return _skipped(first.rank, mine, other.rank, theirs)
    return None


def _were_level(first: Rank, other: Rank, step: int) -> bool:
    """Whether equal steps took equally many backward passes at first; ranks may also accumulate differently."""
    both = [at for at in first.paces.keys() & other.paces.keys() if 0 < at < step]
    return bool(both) and first.paces[min(both)].backwards == other.paces[min(both)].backwards


def _late(pace: Pace, names: list[str]) -> Proof:
    return Proof(
        where=pace.late_place,
        message=f": DistributedDataParallel does not average the gradients of {listed(names)}, which "
        f"{'were frozen' if pace.thawed else 'were not there'} when it wrapped the model",
        label="wrapped here" if pace.thawed else "not among the parameters whose gradients are averaged",
        evidence={"parameters": names[:10]},
        fix="change the model, and what requires gradients, before DistributedDataParallel wraps it",
    )


def _loaded(rank: int, mine: Pace, other: int, theirs: Pace) -> Proof:
    who, without = (rank, other) if mine.loads else (other, rank)
    return Proof(
        where=mine.load_place or theirs.load_place,
        message=f": rank {who} has loaded weights, rank {without} has not",
        label=f"not called on rank {without}",
        evidence={"loads": {str(rank): mine.loads, str(other): theirs.loads}},
        fix="load the weights on all ranks, or before DistributedDataParallel copies those of rank 0 to the others",
    )


def _reduced(one: Synced) -> Proof:
    """`dist.reduce` where `dist.all_reduce` was meant."""
    return Proof(
        where=one.place,
        message=f": {one.call} averages gradients for one rank only",
        label="the other ranks keep their own gradients, or parts of the sum",
        evidence={"call": one.call, "parameters": one.names[:10]},
        fix="use dist.all_reduce, which gives the sum to all ranks",
    )


def _unsynced(pace: Pace) -> Proof:
    """`no_sync` around the last backward pass before a step, which should average all gradients."""
    return Proof(
        where=pace.unsynced_place,
        message=f": {_which_steps(pace)} is inside no_sync(), so gradients are not averaged",
        label="inside no_sync()",
        evidence={"steps": pace.unsynced, "of": pace.step},
        fix="leave the last forward and backward pass before each optimizer.step() outside no_sync()",
    )


def _which_steps(pace: Pace) -> str:
    if pace.unsynced >= pace.step:
        return "the last backward pass before every optimizer step"
    return f"the last backward pass before {counted(pace.unsynced, 'optimizer step')} of {pace.step}"


def _too_late(one: Synced, pace: Pace) -> Proof:
    return Proof(
        where=one.place,
        message=f": {one.call} averages gradients only after optimizer.step() has used them",
        label="after the step",
        evidence={"call": one.call},
        related=[(pace.step_place, "the step that uses them")],
        fix="average the gradients between backward() and optimizer.step()",
    )


def _rates(rank: int, mine: Pace, other: int, theirs: Pace) -> Proof:
    a, b = next((a, b) for a, b in zip(mine.rates, theirs.rates, strict=True) if a != b)
    if mine.scheduled != theirs.scheduled:
        label = f"{counted(mine.scheduled, 'call')} on rank {rank}, {theirs.scheduled} on rank {other}"
        fix = "call scheduler.step() on all ranks"
    else:
        label = "the ranks' schedulers have decided differently"
        fix = "give the schedulers of all ranks the same metric: all_reduce it first"
    return Proof(
        where=mine.scheduler_place or theirs.scheduler_place or mine.step_place,
        message=f": the learning rate is {a:.4g} on rank {rank} and {b:.4g} on rank {other}",
        label=label,
        evidence={"lr": {str(rank): mine.rates, str(other): theirs.rates}},
        fix=fix if mine.scheduled or theirs.scheduled else "use the same learning rate on all ranks",
    )


def _skipped(rank: int, mine: Pace, other: int, theirs: Pace) -> Proof:
    late, more, less = (other, theirs, mine) if theirs.backwards > mine.backwards else (rank, mine, theirs)
    skipped = more.backwards - less.backwards
    return Proof(
        where=more.step_place,
        message=f": rank {late} has left out {counted(skipped, 'optimizer step')} ({more.backwards} backward passes for "
        f"{more.step} steps; {less.backwards} on rank {other if late == rank else rank})",
        label=f"not called by rank {late} after every backward pass",
        evidence={"backwards": {str(rank): mine.backwards, str(other): theirs.backwards}},
        fix="decide on all ranks together whether to step: all_reduce the condition first",
    )


def _without_cause(first: Rank, other: Rank, step: int, from_the_start: bool) -> Proof:
    names = [name.partition(":")[2] for name in _differ(first, other, step)]
    return Proof(
        where=first.weights[step].made,
        message=", yet gradients are averaged",
        label=f"{names[0]} and {len(names) - 1} more differ" if len(names) > 1 else f"{names[0]} differs",
        evidence={"parameters": names[:10]},
        fix="create the model with the same seed on all ranks, or broadcast its parameters from rank 0"
        if from_the_start
        else "change the parameters only in the common steps, equally on all ranks",
    )


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
