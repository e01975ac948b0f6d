from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.hangs import rank_names
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.ranks import Sampled


@rule("dist.seeds-differ", severity="error", needs="steps, end, crash")
def seeds_differ(run: Evidence) -> Iterator[Proof]:
    """The ranks split the data with different seeds: some samples are trained on twice, others never.

    Why it matters: each DistributedSampler shuffles the whole dataset and takes every n-th sample. The parts fit
    together only if all ranks shuffle the same dataset in the same order. A `random_split` with another seed on each
    rank also puts samples that one rank holds out into the training of another.

    What to do: use the same seed on all ranks for whatever chooses or orders samples: `DistributedSampler(seed=...)`,
    and a `generator` with a fixed seed for `random_split`. Seeds for dropout and augmentation may differ.

    How it is found: each rank tells the seed of the sampler of the loader that trains, and a digest of the indices
    where its dataset is a subset.

    Bad:
        torch.manual_seed(rank)
        train, held_out = random_split(data, [900, 100])
    Good:
        train, held_out = random_split(data, [900, 100], generator=torch.Generator().manual_seed(0))
    """
    ranks = [one for one in run.ranks.all if one.trained]
    for number in sorted({number for one in ranks for number in one.trained}):
        told = {one.rank: one.sampled[number] for one in ranks if number in one.sampled}
        whole = {rank: one for rank, one in told.items() if one.replicas == ranks[0].size}
        if len(whole) < 2:
            continue
        first = next(iter(whole.values()))
        seeds = {rank: one.seed for rank, one in whole.items() if one.shuffles}
        if len(set(seeds.values())) > 1:
            yield _of_samplers(seeds, first)
        elif len({one.indices for one in whole.values()}) > 1 and len({one.length for one in whole.values()}) == 1:
            yield _of_subsets(whole, first)


def _of_samplers(seeds: dict[int, int], first: Sampled) -> Proof:
    shown = ", ".join(f"{seed} on rank {rank}" for rank, seed in list(seeds.items())[:4])
    return Proof(
        where=first.made,
        message=f"the samplers of {rank_names(seeds)} have different seeds, so their parts of the data overlap",
        label=f"seed {shown}",
        evidence={"seeds": {str(rank): seed for rank, seed in seeds.items()}},
        fix="give DistributedSampler the same seed on all ranks",
        related=[(first.loader_made, "the loader is made here")],
    )


def _of_subsets(whole: dict[int, Sampled], first: Sampled) -> Proof:
    groups: dict[str, list[int]] = {}
    for rank, one in whole.items():
        groups.setdefault(one.indices, []).append(rank)
    shown = " and ".join(rank_names(ranks) for ranks in list(groups.values())[:4])
    return Proof(
        where=first.loader_made,
        message=f"{shown} train on different subsets of {first.length} samples, though a sampler splits a single one",
        label="the indices of the dataset differ between ranks",
        evidence={"ranks": list(groups.values()), "samples": first.length},
        fix="split the data with the same seed on all ranks: random_split(..., generator=...)",
        related=[(first.made, "the sampler is made here")],
    )
