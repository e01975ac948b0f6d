from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.crash.provenance import made_at
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("data.worker-error", severity="error", needs="crash", follows=("shape.*", "dtype.*"))
def worker_error(run: Evidence) -> Iterator[Proof]:
    """The dataset failed, or a worker of the loader died.

    Why it matters: the exception that arrives is a copy; the line that failed is inside the worker.

    What to do: run with `num_workers=0` (or `stepscope run --no-workers`) to step through it. A worker that is killed
    has usually run out of memory, shared or not.

    Bad:
        def __getitem__(self, i):
            return self.rows[i + 1]
    Good:
        def __getitem__(self, i):
            return self.rows[i]
    """
    crash = run.crash
    if crash is None:
        return
    loader = crash.loaders[0] if crash.loaders else None
    if crash.says(r"dataloader worker \(pid\(?s?\)? .*(exited unexpectedly|is killed)"):
        yield Proof(
            where=(None if loader is None else made_at(crash, loader)) or crash.site,
            message="a worker of the loader was killed, usually because memory (or /dev/shm) ran out",
            evidence={"error": crash.message[:200], "workers": None if loader is None else loader.workers},
            fix="use fewer workers, smaller batches or more shared memory; with num_workers=0 the error appears there",
        )
        return
    own = [frame for frame in crash.worker or () if frame.own]
    if not own:
        return
    yield Proof(
        where=own[-1].site,
        message=f"{crash.type} in a worker of the loader: {crash.message[:160]}",
        label="it failed here, inside the worker",
        evidence={"function": own[-1].function, "workers": None if loader is None else loader.workers},
        fix="run with --no-workers to see it in the main process, where you can step through it",
        related=[] if loader is None else [(made_at(crash, loader), "the loader")],
    )
