from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.hangs import rank_names
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.ranks import Delivered, Rank

_BATCHES = 2


@rule("dist.no-sampler", severity="warning", needs="steps, end, crash")
def no_sampler(run: Evidence) -> Iterator[Proof]:
    """Ranks train on the same batches: nothing splits the data among them, or all draw the same random samples.

    Why it matters: the ranks compute the same gradients, and their average is that of one rank: all the work of the
    others is for nothing, and the batch is as small as on one.

    What to do: give the DataLoader a `DistributedSampler` (with `set_epoch` each epoch); an IterableDataset has to
    yield every n-th sample itself, beginning with its rank. A dataset that draws random numbers needs another seed on each
    rank: `torch.manual_seed(seed + rank)` after the model is made.

    How it is found: the ranks train one model together, the first batches of the loader that trains are the same on
    several of them, value by value, and so is what the model is given. Digests are exchanged through the store of the
    process group. Where a DistributedSampler gives the ranks different indices, the dataset must have drawn the samples.

    Bad:
        loader = DataLoader(dataset, batch_size=32, shuffle=True)
        model = DistributedDataParallel(net)
    Good:
        loader = DataLoader(dataset, batch_size=32, sampler=DistributedSampler(dataset))
        model = DistributedDataParallel(net)
    """
    if not run.ranks.are_all_heard:
        return  # so that the finding names all ranks it holds for
    ranks = [one for one in run.ranks.all if one.shares_gradients and one.trained]
    for number in sorted({number for one in ranks for number in one.trained}):
        alike = [group for group in _alike(ranks, number) if len(group) > 1]
        if not alike:
            continue
        first = alike[0][0].delivered[number][0]
        who = ", and ".join(_names(group, len(run.ranks.all)) for group in alike)
        is_split = all(_splits(group, number) for group in alike)
        if is_split and len({one.digest for one in alike[0][0].delivered[number]}) == 1:
            continue  # data that is the same everywhere
        why = (
            "the sampler splits the indices, but the dataset draws the same random samples"
            if is_split
            else "this loader does not split the data among the ranks"
        )
        yield Proof(
            where=first.made,
            message=f"{who} train on the same batches: {why}",
            label=f"the first {len(alike[0][0].delivered[number])} batches are the same on {who}",
            evidence={"ranks": [[one.rank for one in group] for group in alike], "sampler": first.sampler},
            fix="seed each rank differently once the model is made: torch.manual_seed(seed + dist.get_rank())"
            if is_split
            else _mend(run, first),
        )


def _alike(ranks: list[Rank], number: int) -> list[list[Rank]]:
    """Ranks whose first batches, and what the model made of them, are the same."""
    groups: list[list[Rank]] = []
    for rank in ranks:
        if not _compares(rank, number):
            continue
        for group in groups:
            if _same(group[0], rank, number) and _fed_alike(group[0], rank, group[0].delivered[number][0]):
                group.append(rank)
                break
        else:
            groups.append([rank])
    return groups


def _compares(rank: Rank, number: int) -> bool:
    """A sampler that knows of ranks may give some the same on purpose, unless one model is trained over all of them."""
    batches = rank.delivered.get(number, [])
    return number in rank.trained and len(batches) >= _BATCHES and (bool(rank.wraps) or not batches[0].shared)


def _same(one: Rank, other: Rank, number: int) -> bool:
    pairs = list(zip(one.delivered[number], other.delivered[number], strict=False))
    return len(pairs) >= _BATCHES and all(mine.digest == theirs.digest for mine, theirs in pairs)


def _splits(group: list[Rank], number: int) -> bool:
    """Whether a DistributedSampler gives each of these ranks other indices."""
    samplers = [rank.sampled.get(number) for rank in group]
    parts = {one.rank for one in samplers if one is not None and one.rank >= 0}
    return len(parts) == len(group)


def _names(group: list[Rank], size: int) -> str:
    if len(group) == size:
        return "both ranks" if size == 2 else f"all {size} ranks"
    return rank_names(one.rank for one in group)


def _fed_alike(rank: Rank, other: Rank, batch: Delivered) -> bool:
    """Whether the model gets the same, or at least as much as the loader gives: not a part cut out for this rank."""
    if not rank.fed or not other.fed:
        return False
    same = all(mine.digest == theirs.digest for mine, theirs in zip(rank.fed, other.fed, strict=False))
    return same or rank.fed[0].length == other.fed[0].length == batch.length


def _mend(run: Evidence, batch: Delivered) -> str:
    if run.trainer.accelerated is not None:
        return "pass the loader to accelerator.prepare, and use the one it returns"
    if batch.iterable:
        return "shard the data in the dataset's __iter__ by rank and world size"
    if batch.shared:
        return "give the sampler the size and the rank of the whole group: dist.get_world_size() and dist.get_rank()"
    return "pass sampler=DistributedSampler(dataset) instead of shuffle, and call set_epoch each epoch"
