from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.hangs import rank_names
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.ranks import Delivered, Rank

_BATCHES = 2


@rule("dist.uneven-batches", severity="warning", needs="steps, end, crash")
def uneven_batches(run: Evidence) -> Iterator[Proof]:
    """Ranks that train one model together have batches of different sizes.

    Why it matters: the gradients of the ranks are averaged as if every rank had the same number of samples. A sample on
    a rank with small batches counts for more than one on a rank with large batches, and the fast ranks wait.

    What to do: use the same batch size on all ranks, or multiply each rank's loss by its share of the samples.

    How it is found: each rank tells the length of the first batches of the loader that trains. On each rank all are
    equally long, and between ranks they differ. Different numbers of batches are found when a rank waits for another
    (`run.hang`, `dist.collective-mismatch`).

    Bad:
        loader = DataLoader(dataset, batch_size=64 if rank == 0 else 32, sampler=DistributedSampler(dataset))
    Good:
        loader = DataLoader(dataset, batch_size=48, sampler=DistributedSampler(dataset))
    """
    if not run.ranks.are_all_heard:
        return  # so that the finding names all ranks it holds for
    ranks = [one for one in run.ranks.all if one.shares_gradients]
    for number in sorted({number for one in ranks for number in one.trained}):
        sizes: dict[int, list[int]] = {}
        for one in ranks:
            size = _usual_size(one, number)
            if size is not None:
                sizes.setdefault(size, []).append(one.rank)
        if len(sizes) < 2:
            continue
        first = _first(ranks, number)
        said = " and ".join(f"{size} samples on {rank_names(whose)}" for size, whose in sorted(sizes.items())[:4])
        yield Proof(
            where=first.made,
            message=f"the batches of the ranks differ: {said}; their gradients are averaged as if they were equal",
            label="this loader's batches are not equally large on all ranks",
            evidence={"samples": {str(size): whose for size, whose in sizes.items()}},
            fix="use the same batch size on all ranks",
        )


def _usual_size(rank: Rank, number: int) -> int | None:
    """How many samples all first batches of a loader have; None where they vary, as with batches of a fixed number of tokens."""
    lengths = {batch.length for batch in rank.delivered.get(number, [])}
    is_known = number in rank.trained and len(rank.delivered.get(number, [])) >= _BATCHES
    return lengths.pop() if is_known and len(lengths) == 1 else None


def _first(ranks: list[Rank], number: int) -> Delivered:
    return next(one.delivered[number][0] for one in ranks if one.delivered.get(number))
