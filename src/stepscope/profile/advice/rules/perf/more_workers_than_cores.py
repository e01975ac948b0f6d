from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip, Trial


@rule("perf.more-workers-than-cores", needs="profile", severity="info")
def more_workers_than_cores(run: Measured) -> Iterator[Tip]:
    """The loader has more workers than there are processors for them.

    Why it matters: they take turns with each other and with the training, each holds memory of its own, and the
    wait for data gets longer, not shorter.

    What to do: at most one worker a processor; `stepscope tune-data` measures how many are enough.

    How it is found: the loader's workers outnumber the processors this process may use, while training waits
    for data.

    Bad:
        DataLoader(dataset, num_workers=32)    # on 4 processors
    Good:
        DataLoader(dataset, num_workers=4)
    """
    loader = run.loader
    workers, cores = int(loader.get("num_workers") or 0), run.cores
    if "cores" not in run.facts.get("cpu", {}) or workers <= cores or run.share(run.part("data")) < 0.05:
        return
    yield Tip(
        where=run.where(loader, "made", "iterated"),
        message=f"{workers} workers share {cores} processor{'s' * (cores > 1)}",
        fix=f"num_workers={cores}",
        share=run.share(run.part("data")),
        saving_ns=0,
        evidence={"workers": workers, "processors": cores},
        part="data",
        trial=Trial("loader", {"num_workers": cores}),
    )
