from __future__ import annotations

import math
from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip, Trial


@rule("perf.too-few-workers", needs="profile")
def too_few_workers(run: Measured) -> Iterator[Tip]:
    """The loader's workers cannot keep up with the training.

    Why it matters: when every worker is busy all the time and the training still waits, the data sets the pace.

    What to do: more workers while there are processors for them; after that, cheaper samples (smaller files,
    work done once and kept, decoding on the device).

    How it is found: the loader has workers, and the wait for batches is a tenth of the step or more, not only
    at the beginning of a pass. The saving assumes that the workers' throughput grows with their number, as far as
    other programs leave processors for them.

    Bad:
        DataLoader(dataset, batch_size=256, num_workers=2)    # of 16 processors
    Good:
        DataLoader(dataset, batch_size=256, num_workers=8)
    """
    loader, wait = run.loader, run.part("data")
    workers = int(loader.get("num_workers") or 0)
    if not workers or run.share(wait) < 0.1:
        return
    rest = max(1, run.step_ns - wait)
    enough = math.ceil(workers * run.step_ns / rest)
    room = run.cores if run.kind != "cpu" else max(1, run.cores - 1)
    most = min(room, enough)
    then = max(rest, run.step_ns * workers / most, run.step_ns * run.capacity(workers + 1) / run.capacity(most + 1))
    saving = run.step_ns - then if most > workers else 0
    more = f"num_workers={most}" if most > workers else "make samples cheaper: the workers have all processors already"
    yield Tip(
        where=run.where(loader, "made", "iterated"),
        message=f"training waits for data although {workers} worker{'s' * (workers > 1)} load{'s' * (workers == 1)} it",
        fix=more,
        share=run.share(wait),
        saving_ns=int(max(0, saving)),
        how=f"{workers} workers make a batch in {run.step_ns / 1e6:.1f} ms; training would take {rest / 1e6:.1f} ms",
        evidence={"wait_ms": round(wait / 1e6, 2), "workers": workers, "processors": run.cores},
        part="data",
        trial=Trial("loader", {"num_workers": most}) if most > workers else None,
    )
