from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.hangs import rank_names
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.ranks import Rank

_FEWEST_STEPS = 10


@rule("dist.local-batch-norm", severity="warning", needs="steps, end, crash")
def local_batch_norm(run: Evidence) -> Iterator[Proof]:
    """Each rank keeps its own batch norm statistics or other buffers, so the same weights give different results.

    Why it matters: gradients are averaged, but every rank computes with the statistics of its own data: the running
    means of batch norm, the codebook of a quantizer, or the mean and scale of a normalizer. Results depend on the rank,
    and a checkpoint holds the statistics of one part of the data.

    What to do: leave `broadcast_buffers=True`, convert the model with `nn.SyncBatchNorm.convert_sync_batchnorm`, or
    average the buffers with `dist.all_reduce` where they are updated.

    How it is found: buffers that are saved with the model change during training and differ between ranks that train
    one model, and neither DistributedDataParallel nor SyncBatchNorm keeps them alike.

    Bad:
        model = DistributedDataParallel(net, broadcast_buffers=False)
    Good:
        model = DistributedDataParallel(nn.SyncBatchNorm.convert_sync_batchnorm(net))
    """
    ranks = [one for one in run.ranks.all if one.shares_gradients and one.running]
    if len(ranks) < 2:
        return
    steps = sorted(set(ranks[0].running).intersection(*(one.running for one in ranks[1:])))
    if len(steps) < 2 or steps[-1] < _FEWEST_STEPS:
        return
    last, before = (_different(ranks, step) for step in (steps[-1], steps[-2]))
    apart = {name: last[name] for name in last if last[name] == before.get(name) and _changes(ranks, name, steps[-2:])}
    if not apart:
        return
    mine = ranks[0].running[steps[-1]]
    normalized = set(mine.names[: len(mine.names) - mine.others])
    name = next((name for name in apart if name in normalized), None) or next(iter(apart))
    who = rank_names(apart[name])
    if name in normalized:
        what = f"batch norm has different running statistics on {who} than on rank {ranks[0].rank}"
        label = f"the running means of {name} differ at step {steps[-1]}"
        fix = "use nn.SyncBatchNorm.convert_sync_batchnorm, or leave broadcast_buffers=True"
    else:
        what = f"the buffer {name} differs on {who} from that of rank {ranks[0].rank}"
        label = f"updated by each rank with its own data; different at step {steps[-1]}"
        fix = f"average what updates {name.rpartition('.')[2]} with dist.all_reduce, or leave broadcast_buffers=True"
    yield Proof(
        where=mine.place,
        message=what,
        label=label,
        evidence={"buffers": list(apart), "ranks": [ranks[0].rank, *apart[name]], "steps": steps[-2:]},
        fix=fix,
    )


def _different(ranks: list[Rank], step: int) -> dict[str, list[int]]:
    """Of each buffer, the ranks whose values are not those of the first."""
    mine = ranks[0].running[step]
    found: dict[str, list[int]] = {}
    for other in ranks[1:]:
        theirs = other.running[step]
        for name, one, another in zip(mine.names, mine.digests, theirs.digests, strict=False):
            if theirs.names == mine.names and one != another:
                found.setdefault(name, []).append(other.rank)
    return found


def _changes(ranks: list[Rank], name: str, steps: list[int]) -> bool:
    """Whether training changes it on every rank; a constant of each rank's own is not updated."""
    values = [[dict(zip(one.running[at].names, one.running[at].digests, strict=True)).get(name) for at in steps] for one in ranks]
    return all(before != after for before, after in values)
