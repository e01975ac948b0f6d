from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.hangs import rank_names
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.ranks import Rank


@rule("dist.nan-on-one-rank", severity="error", needs="steps, end, crash")
def nan_on_one_rank(run: Evidence) -> Iterator[Proof]:
    """The loss of some ranks became NaN or infinite while that of the others was finite.

    Why it matters: averaged gradients carry the NaN to all ranks in the same step. What is printed on rank 0 looks fine
    until then, and points at the wrong data.

    What to do: look at the data of the rank that is named: its part of the dataset has the sample that breaks the loss.

    How it is found: each rank tells the step of its first loss that is not finite.

    Bad:
        target = torch.log(x[:, 2])             # one rank has a row with a negative value
    Good:
        target = torch.log(x[:, 2].clamp_min(1e-6))
    """
    broken = {one.rank: one.not_finite for one in run.ranks.all if one.not_finite is not None}
    if not broken:
        return
    step = min(one.step for one in broken.values())
    first = {rank: one for rank, one in broken.items() if one.step == step}
    fine = [one.rank for one in run.ranks.all if one.rank not in first and _went_on(one, step)]
    if not fine:
        return
    rank, told = next(iter(first.items()))
    yield Proof(
        where=told.place,
        message=f"the loss is {told.value} on {rank_names(first)} at step {step}, and finite on {rank_names(fine)}",
        label=f"{told.value} on {rank_names(first)} only",
        evidence={"ranks": sorted(first), "finite": fine, "step": step},
        fix=f"look at the batch of rank {rank} at step {step}: stepscope show --rank {rank}",
    )


def _went_on(rank: Rank, step: int) -> bool:
    """Whether its own loss of that step is known to be finite: it came later, or never, and the rank is past it."""
    if rank.not_finite is not None:
        return rank.not_finite.step > step
    return rank.ended is not None and rank.ended.backwards > step
