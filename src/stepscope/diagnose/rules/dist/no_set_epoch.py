from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("dist.no-set-epoch", severity="warning")
def no_set_epoch(run: Evidence) -> Iterator[Proof]:
    """A DistributedSampler shuffles every epoch in the same order, because its epoch is never set.

    Why it matters: the order is drawn from the seed plus the epoch. Without `set_epoch` every epoch has the same
    batches in the same order, and each rank sees the same part of the data in every epoch.

    What to do: call `sampler.set_epoch(epoch)` at the beginning of each epoch, before the loader is iterated.

    How it is found: a shuffling DistributedSampler of a loader that trains was gone through at least twice with the
    same epoch.

    Bad:
        for epoch in range(epochs):
            for x, y in loader: ...
    Good:
        for epoch in range(epochs):
            sampler.set_epoch(epoch)
            for x, y in loader: ...
    """
    for loader in run.loaders.all:
        sampler = run.distributed.sampler_of(loader)
        if sampler is None or not sampler.shuffles or not loader.is_training:
            continue
        passes = len(sampler.epochs)
        if min(passes, loader.epochs) < 2 or len(set(sampler.epochs)) > 1:
            continue
        # Two whole passes, so that a first look at one batch is not mistaken for an epoch.
        if loader.finished < 2:
            continue
        yield Proof(
            where=loader.iterated,
            message=f"all {passes} epochs so far have the same order: its sampler's set_epoch is not called",
            label=f"epoch {sampler.epochs[0]} in every pass",
            evidence={"passes": passes, "epochs": sampler.epochs[:20], "set_epoch_calls": sampler.sets},
            fix="call sampler.set_epoch(epoch) at the beginning of each epoch, before this loop",
            related=[(sampler.made, "the sampler is made here")] if sampler.made is not None else [],
        )
