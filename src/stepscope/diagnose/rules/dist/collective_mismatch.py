from __future__ import annotations

import re
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.ranks import Called, Rank

_LOST = re.compile(r"closed by peer|connection reset|broken pipe|timed out|timeout|socket|peer", re.I)


@rule("dist.collective-mismatch", severity="error", needs="steps, end, crash", follows=("dist.unused-params",))
def collective_mismatch(run: Evidence) -> Iterator[Proof]:
    """The ranks do not call the same collectives in the same order: one waits for another that never comes.

    Why it matters: a collective ends when all ranks have joined. If one takes another path (an `if rank == 0`, an early
    exit, one batch less), the run hangs until a timeout, or values of different things are added up.

    What to do: call each collective on every rank, the same number of times. Only what is not a collective (printing,
    saving) belongs under `if rank == 0`. For uneven data use `drop_last`, a DistributedSampler or `model.join()`.

    How it is found: each rank writes down its calls before it makes them; at the end, or when a hanging run is
    interrupted, the lists are compared. With DistributedDataParallel the numbers of steps are compared as well when a
    rank has lost the others.

    Bad:
        if rank == 0:
            save(model)
            dist.barrier()
    Good:
        if rank == 0:
            save(model)
        dist.barrier()
    """
    for index, one in enumerate(run.ranks.all):
        for other in run.ranks.all[index + 1 :]:
            proof = _parted(one, other) or _left_alone(one, other) or _left_alone(other, one) or _uneven(one, other)
            if proof is not None:
                yield proof
                return


def _parted(one: Rank, other: Rank) -> Proof | None:
    for mine, theirs in zip(one.called, other.called, strict=False):
        if (mine.name, mine.shape) == (theirs.name, theirs.shape):
            continue
        if mine.name == theirs.name:
            what = f"{mine.name} with shape {mine.shape} on rank {one.rank} and {theirs.shape} on rank {other.rank}"
        else:
            what = f"rank {one.rank} calls {mine.name} while rank {other.rank} calls {theirs.name}"
        return Proof(
            where=mine.place or theirs.place,
            message=f"the ranks diverge here: {what}",
            label=f"collective number {mine.number + 1} of rank {one.rank}",
            evidence=_evidence(one, other, mine.number),
            fix="let all ranks call the same collectives in the same order, with the same shapes",
            related=[(theirs.place, f"rank {other.rank} is here")],
        )
    return None


def _left_alone(one: Rank, other: Rank) -> Proof | None:
    """`one` calls a collective that `other`, which has ended well, never called."""
    there = len(other.called)
    if len(one.called) <= there or other.ended is None or other.ended.error is not None:
        return None
    if one.ended is not None and one.ended.error is not None and not _LOST.search(one.ended.error):
        return None
    if there and other.called[-1].number != there - 1:
        return None
    call = one.called[there]
    waits = "waits in" if call.number not in one.returned else "calls"
    return Proof(
        where=call.place,
        message=f"rank {one.rank} {waits} {call.name}, which rank {other.rank} never calls",
        label=f"rank {other.rank} has ended after {there} collective{'s' * (there != 1)}",
        evidence=_evidence(one, other, there),
        fix=f"call {call.name} on all ranks: move it out of the code that only rank {one.rank} runs",
    )


def _uneven(one: Rank, other: Rank) -> Proof | None:
    """A rank was alone in backward: the others had fewer batches, and have ended."""
    long, short = (one, other) if (one.ended and one.ended.error) else (other, one)
    if long.ended is None or short.ended is None or not (long.wraps and short.wraps):
        return None
    if short.ended.error is not None or long.ended.error is None or not _LOST.search(long.ended.error):
        return None
    if long.ended.backwards <= short.ended.backwards or not long.ended.batches:
        return None
    mine, theirs = sum(long.ended.batches.values()), sum(short.ended.batches.values())
    if mine <= theirs:
        return None
    return Proof(
        where=long.ended.loop,
        message=f"rank {long.rank} has more batches than rank {short.rank} and waits for it in backward",
        label=f"batch {mine} on rank {long.rank}; rank {short.rank} has ended after {theirs}",
        evidence={"batches": {str(long.rank): mine, str(short.rank): theirs}},
        fix="give all ranks the same number of batches: DistributedSampler, drop_last=True, or `with model.join():`",
    )


def _evidence(one: Rank, other: Rank, number: int) -> dict[str, object]:
    def around(calls: list[Called]) -> list[str]:
        return [
            f"{call.name} {call.place[0].rpartition('/')[2]}:{call.place[1]}" if call.place else call.name
            for call in calls[max(0, number - 2) : number + 2]
        ]

    return {f"rank {one.rank}": around(one.called), f"rank {other.rank}": around(other.called), "number": number}
