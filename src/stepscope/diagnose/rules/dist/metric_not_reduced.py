from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("dist.metric-not-reduced", severity="info", needs="end")
def metric_not_reduced(run: Evidence) -> Iterator[Proof]:
    """Each rank evaluates its own part of the data, and nothing puts the parts together.

    Why it matters: with a DistributedSampler each rank sees a share of the validation set. A metric that is printed
    or used for early stopping without an `all_reduce` is that of one share, and the ranks may decide differently.

    What to do: sum the counts over the ranks with `dist.all_reduce` before dividing, or gather the predictions.

    How it is found: a loader whose sampler shares the data out was gone through without training, and no collective
    was called after it. The script may have another way to join the parts, so this is only a hint.

    Bad:
        correct = evaluate(model, loader_of_this_rank)
        print(correct / len(dataset))
    Good:
        correct = evaluate(model, loader_of_this_rank)
        dist.all_reduce(correct)
        print(correct / len(dataset))
    """
    for loader in run.loaders.all:
        if loader.is_training or not loader.finished:
            continue
        if run.collectives.last_batches >= run.distributed.last_batch(loader):
            continue
        sampler = run.distributed.sampler_of(loader)
        if sampler is None or sampler.size < 2:
            continue
        yield Proof(
            where=loader.iterated,
            message=f"each rank evaluates one of {sampler.size} parts of the data, and the results are not combined",
            label="no collective is called after this loop",
            evidence={"ranks": sampler.size, "passes": loader.finished},
            fix="sum the counts over the ranks with dist.all_reduce before the metric is computed",
        )
