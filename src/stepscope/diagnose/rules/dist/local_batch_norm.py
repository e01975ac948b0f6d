from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.hangs import rank_names
from stepscope.diagnose.rule import Proof, rule

_FEWEST_STEPS = 10


@rule("dist.local-batch-norm", severity="warning", needs="steps, end, crash")
def local_batch_norm(run: Evidence) -> Iterator[Proof]:
    """Each rank keeps its own batch norm statistics, so the same weights give different results.

    Why it matters: gradients are averaged, but in evaluation every rank normalizes with the statistics of its own
    data. Results depend on the rank, and a checkpoint holds the statistics of one part of the data.

    What to do: leave `broadcast_buffers=True`, convert the model with `nn.SyncBatchNorm.convert_sync_batchnorm`, or
    average the buffers before evaluation.

    How it is found: the running means of batch norm differ between ranks that train one model, and neither
    DistributedDataParallel nor SyncBatchNorm keeps them alike.

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
    mine = ranks[0].running[steps[-1]]
    apart = [one.rank for one in ranks[1:] if one.running[steps[-1]].digests != mine.digests]
    before = [one.rank for one in ranks[1:] if one.running[steps[-2]].digests != ranks[0].running[steps[-2]].digests]
    if not apart or apart != before:
        return
    yield Proof(
        where=mine.place,
        message=f"batch norm has different running statistics on {rank_names(apart)} than on rank {ranks[0].rank}",
        label=f"the running means of {mine.names[0]} differ at step {steps[-1]}",
        evidence={"layers": mine.names, "ranks": [ranks[0].rank, *apart], "steps": steps[-2:]},
        fix="use nn.SyncBatchNorm.convert_sync_batchnorm, or leave broadcast_buffers=True",
    )
