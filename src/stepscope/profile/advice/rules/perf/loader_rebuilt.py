from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.profile.advice.tip import Tip

if TYPE_CHECKING:
    from stepscope.profile.advice.measured import Measured

_TIMES = 4


@rule("perf.loader-rebuilt", needs="steps, profile")
def loader_rebuilt(run: Evidence | Measured) -> Iterator[Proof]:
    """The same data loader is made again and again.

    Why it matters: its workers are restarted each time, and with `next(iter(...))` a whole epoch is shuffled for one
    batch.

    What to do: make the loader once, before the loop, and iterate over it.

    How it is found: one line made a loader over the same dataset in several epochs with workers, or in several steps.
    In a profile the saving is the wait for first batches, beyond what a fetch takes.

    Bad:
        for step in range(1000):
            x, y = next(iter(DataLoader(data, batch_size=32, shuffle=True)))
    Good:
        loader = DataLoader(data, batch_size=32, shuffle=True)
        for x, y in loader: ...
    """
    return _in_training(run) if isinstance(run, Evidence) else _in_profile(run)


def _in_training(run: Evidence) -> Iterator[Proof]:
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


def _in_profile(run: Measured) -> Iterator[Tip]:
    by_line: dict[tuple[str, int], list[dict[str, object]]] = {}
    for loader in run.loaders:
        where = run.where(loader, "made")
        if where is not None and loader.get("trains"):
            by_line.setdefault(where, []).append(loader)
    for where, made in by_line.items():
        times = max(len(made), *(_count(one, "made_times") for one in made))
        batches = sum(_count(one, "batches") for one in made) / len(made)
        if times < _TIMES or batches > 4:
            continue
        first = sum(_count(one, "first_wait_ns") for one in made) / len(made)
        fetches = [one["fetch"] for one in made if isinstance(one.get("fetch"), dict)]
        fetch = min((_count(one, "whole_ns") for one in fetches if isinstance(one, dict)), default=first / 2)
        saving = (first - min(first, fetch)) / max(1.0, batches)
        yield Tip(
            where=where,
            message=f"{times} loaders were made on this line, for {batches:.0f} batch{'es' * (batches >= 1.5)} each",
            fix="make the loader once before the loop and iterate over it",
            share=run.share(run.part("data")),
            saving_ns=int(saving),
            how="the wait for the first batch, less what a fetch takes",
            evidence={"loaders": times, "first_wait_ms": round(first / 1e6, 2)},
            part="data",
        )


def _count(fact: dict[str, object], key: str) -> int:
    value = fact.get(key)
    return int(value) if isinstance(value, int | float) else 0
