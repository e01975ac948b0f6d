from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_TIMES = 4


@rule("perf.loader-rebuilt", severity="warning")
def loader_rebuilt(run: Evidence) -> Iterator[Proof]:
    """The same data loader is created repeatedly.

    Why it matters: its workers are started anew each time, and with `next(iter(...))` a whole epoch is shuffled for one
    batch.

    What to do: make the loader once, before the loop, and iterate over it.

    How it is found: one line made a loader over the same dataset in several epochs with workers, or in several steps.

    Bad:
        for step in range(1000):
            x, y = next(iter(DataLoader(data, batch_size=32, shuffle=True)))
    Good:
        loader = DataLoader(data, batch_size=32, shuffle=True)
        for x, y in loader: ...
    """
    for rebuilt in run.global_settings.rebuilt:
        loaders, times = rebuilt.loaders, len(rebuilt.loaders)
        training = [loader for loader in loaders if loader.trains]
        if len(training) < (3 if loaders[0].workers else _TIMES):
            continue
        per_step = all(loader.batches <= 1 for loader in training[:-1])
        workers = f", each time starting {loaders[0].workers} workers" if loaders[0].workers else ""
        yield Proof(
            where=rebuilt.place,
            message="this loader is recreated " + ("for every batch" if per_step else "in every epoch"),
            label=f"{times} times over the same dataset{workers}",
            evidence={"times": times, "batches_of_each": training[0].batches, "workers": loaders[0].workers},
            edit=tensors.hoisted(rebuilt.place),
            fix="make the loader once before the loop",
            # Once an epoch, without workers, it costs next to nothing.
            severity=None if per_step or loaders[0].workers else "info",
        )
