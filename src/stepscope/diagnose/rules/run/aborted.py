from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stepscope.diagnose.fatal import fatal_states
from stepscope.diagnose.hangs import FIX, evidence_of, explain, label_of, place_in_doubt
from stepscope.diagnose.rule import Proof, rule
from stepscope.records.hang import Hang

if TYPE_CHECKING:
    from stepscope.diagnose.stored.stored_run import StoredRun


@rule("run.aborted", severity="error", needs="stored", follows=("run.hang", "dist.collective-mismatch"))
def aborted(run: StoredRun) -> Iterator[Proof]:
    """C++ code ended ranks of a job (SIGABRT, SIGSEGV), and none was left to say why.

    Why it matters: no Python runs at that moment, so there is no traceback, and the launcher only names the signal.

    What to do: look at the line each rank was at. If they are at different collectives, let all ranks call the same
    ones. If they are at the same line, compare the shapes and dtypes that each rank passes there, and read what the
    library printed before it ended.

    How it is found: jobs with a process group have Python's fault handler write the stacks to the run's folder. Nothing
    is reported where a rank that lived on has explained it, or where a later attempt runs.

    Bad:
        rows = [torch.empty(8) for _ in range(world)]
        dist.all_gather(rows, torch.ones(8 + rank))
    Good:
        rows = [torch.empty(8) for _ in range(world)]
        dist.all_gather(rows, torch.ones(8))
    """
    folder = run.folder
    is_of_earlier = folder.status == "running" and len({one.attempt for one in folder.attempts}) > 1
    if folder.status == "finished" or is_of_earlier:
        return
    states = fatal_states(folder.path)
    if not states:
        return
    ended = Hang(time=0.0, ranks=tuple(states))
    parted = len({(one.file, one.line) for one in states}) > 1
    yield Proof(
        where=place_in_doubt(ended),
        message=explain(ended),
        label=label_of(ended),
        evidence=evidence_of(ended),
        fix=FIX if parted else "compare what each rank passes to this line, and read what the library printed before",
    )
