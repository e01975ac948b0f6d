from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip


@rule("perf.loader-made-again", needs="profile")
def loader_made_again(run: Measured) -> Iterator[Tip]:
    """A DataLoader is made again inside the training loop.

    Why it matters: each one shuffles the whole dataset and starts its workers before it gives a batch.

    What to do: make the loader once before the loop, and iterate over it.

    How it is found: one line made many loaders that gave a few batches each; the saving is the wait for first
    batches beyond what a fetch takes.

    Bad:
        for step in range(1000):
            x, y = next(iter(DataLoader(data, batch_size=32, shuffle=True)))
    Good:
        loader = DataLoader(data, batch_size=32, shuffle=True)
        for x, y in loader: ...
    """
    by_line: dict[tuple[str, int], list[dict[str, object]]] = {}
    for loader in run.loaders:
        where = run.where(loader, "made")
        if where is not None and loader.get("trains"):
            by_line.setdefault(where, []).append(loader)
    for where, made in by_line.items():
        times = max(len(made), *(_count(one, "made_times") for one in made))
        batches = sum(_count(one, "batches") for one in made) / len(made)
        if times < 4 or batches > 4:
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
