from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stepscope.diagnose.hangs import FIX, evidence_of, label_of, message_of, place_in_doubt, read_hang
from stepscope.diagnose.rule import Proof, rule

if TYPE_CHECKING:
    from stepscope.diagnose.stored.stored_run import StoredRun

_ENDED_BY_FORCE = ("stopped", "preempted", "killed", "lost")
"""A job that ended so while its ranks waited may have been about to go on: that is worth a hint."""


@rule("run.hang", severity="error", needs="stored")
def hang(run: StoredRun) -> Iterator[Proof]:
    """The job stopped making progress: ranks wait for others that are doing something else.

    Why it matters: a collective returns when all ranks have joined. If one never comes, the others wait until a timeout
    of half an hour ends the job, and the machines are paid for meanwhile.

    What to do: look at the line that fewer ranks reach. Call each collective on every rank, the same number of times;
    give all ranks the same number of batches (`DistributedSampler`, `drop_last=True`, or `with model.join():`).

    How it is found: when no step, batch or collective has come for 20 s and ten times the longest recent step, all
    ranks are asked for their Python stacks through the store of the process group. While a rank computes, six times as
    long is allowed; before the first step five minutes, unless all ranks wait in collectives that do not match.
    If a job is ended before that, what its ranks did is a hint.
    `stepscope show` says meanwhile what the ranks do, and `stepscope stacks RUN` asks at any time.

    Bad:
        if rank == 0:
            save(model)
            dist.barrier()
    Good:
        if rank == 0:
            save(model)
        dist.barrier()
    """
    found = read_hang(run.folder.path)
    if found is None or found.resumed is not None or "run.hang" in run.found:
        return
    if not found.is_sure and run.folder.status not in _ENDED_BY_FORCE:
        return
    yield Proof(
        severity=None if found.is_sure else "info",
        where=place_in_doubt(found),
        message=message_of(found) if found.is_sure else f"at the end it made {message_of(found)}",
        label=label_of(found),
        evidence=evidence_of(found),
        fix=FIX,
    )
