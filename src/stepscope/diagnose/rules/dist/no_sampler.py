from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.ranks import Delivered, Rank

_BATCHES = 2


@rule("dist.no-sampler", severity="warning", needs="end, crash")
def no_sampler(run: Evidence) -> Iterator[Proof]:
    """Every rank trains on the same batches, because nothing shares the data out among them.

    Why it matters: the ranks compute the same gradients, and their average is that of one rank: all the work of the
    others is for nothing, and the batch is as small as on one.

    What to do: give the DataLoader a `DistributedSampler` (with `set_epoch` each epoch); an IterableDataset has to
    yield every n-th sample itself, beginning with its rank.

    How it is found: the ranks train one model together, the first batches of the loader that trains are the same on
    all of them, value by value, and so is what the model is given; the loader's sampler knows nothing of ranks.

    Bad:
        loader = DataLoader(dataset, batch_size=32, shuffle=True)
        model = DistributedDataParallel(net)
    Good:
        loader = DataLoader(dataset, batch_size=32, sampler=DistributedSampler(dataset))
        model = DistributedDataParallel(net)
    """
    ranks = [one for one in run.ranks.all if one.shares_gradients and one.trained]
    if len(ranks) < 2:
        return
    first, others = ranks[0], ranks[1:]
    for number in sorted(first.trained):
        batches = first.delivered.get(number, [])
        if len(batches) < _BATCHES or batches[0].shared or not all(_same(batches, one, number) for one in others):
            continue
        if not all(_fed_alike(first, one, batches[0]) for one in others):
            continue
        who = f"all {len(ranks)} ranks" if len(ranks) > 2 else "both ranks"
        one = batches[0]
        yield Proof(
            where=one.made,
            message=f"{who} train on the same batches: this loader does not share the data out",
            label=f"the first {len(batches)} batches are the same on {who}",
            evidence={"ranks": len(ranks), "same_batches": len(batches), "sampler": one.sampler},
            fix=_mend(run, one.iterable),
        )


def _same(batches: list[Delivered], other: Rank, number: int) -> bool:
    theirs = other.delivered.get(number, [])
    return number in other.trained and [one.digest for one in batches] == [one.digest for one in theirs]


def _fed_alike(rank: Rank, other: Rank, batch: Delivered) -> bool:
    """Whether the model gets the same, or at least as much as the loader gives: not a part cut out for this rank."""
    if not rank.fed or not other.fed:
        return False
    same = [one.digest for one in rank.fed] == [one.digest for one in other.fed]
    return same or rank.fed[0].length == other.fed[0].length == batch.length


def _mend(run: Evidence, iterable: bool) -> str:
    if run.trainer.accelerated is not None:
        return "give the loader to accelerator.prepare, and use the one it gives back"
    if iterable:
        return "shard the data in the dataset's __iter__ by rank and world size"
    return "pass sampler=DistributedSampler(dataset) instead of shuffle, and call set_epoch each epoch"
