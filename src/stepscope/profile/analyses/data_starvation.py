"""Whether the training waits for its data, and for what: waits, queues, workers, the slowest stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.analyses.data_stages import Stage, stages_of
from stepscope.profile.data.facts import loader_facts, loader_names
from stepscope.profile.data.timings import DataTimings
from stepscope.records.profile import Column, Curve, Sheet

if TYPE_CHECKING:
    from stepscope.profile.profile import Profile

_POINTS = 1000


def _timings(profile: Profile, rank: int) -> DataTimings | None:
    trace = profile.trace(rank)
    if trace is None:
        return None
    timings = DataTimings(trace)
    return timings if timings.named("wait").any() else None


class Starved(NamedTuple):
    """A row of the sheet: the fields are its columns, in their order. Times are in nanoseconds."""

    loader: str
    workers: int
    batches: int
    wait: int | None
    wait_p90: int | None
    waiting: float | None
    first: int | None
    fetch: int | None
    supply: float | None
    demand: float | None
    ready: float | None
    empty: float | None
    busy: float | None
    stage: str | None
    stage_share: float | None


@analysis("data-starvation", view="data", of="profile")
def data_starvation(profile: Profile, rank: int) -> Sheet | None:
    """How long the training waits for each loader, and which stage it waits for."""
    timings = _timings(profile, rank)
    if timings is None:
        return None
    facts, names = loader_facts(profile, rank), loader_names(profile, rank)
    slowest = _slowest(timings)
    rows: list[Starved] = []
    for loader in timings.loaders:
        if not len(timings.waits(loader).wait):
            continue
        seen = len(np.unique(timings.worker[(timings.loader == loader) & (timings.worker >= 0)]))
        name = names.get(loader, f"loader {loader}")
        workers = facts[loader].workers if loader in facts else seen
        rows.append(_starved(timings, loader, name, workers, seen, slowest.get(loader)))
    rows.sort(key=lambda row: -(row.waiting or 0.0))
    return Sheet(
        id="data-starvation",
        title="Waiting for data",
        columns=_COLUMNS,
        rows=[list(row) for row in rows],
        sort="waiting",
        notes=_notes(rows),
    )


def _starved(
    timings: DataTimings, loader: int, name: str, workers: int, seen: int, slowest: tuple[str, float] | None
) -> Starved:
    """The row of one loader; `seen` workers have loaded something."""
    waits = timings.waits(loader)
    waited, turns = waits.turns()
    steady = waits.wait[waits.is_steady]
    ready = waits.ready[waits.is_steady & (waits.ready >= 0)]
    fetch = timings.dur[timings.named("fetch") & (timings.loader == loader)]
    between = float(np.mean(turns - waited)) if len(turns) else 0.0
    stage, share = slowest or (None, None)
    return Starved(
        loader=name,
        workers=workers,
        batches=len(waits.wait),
        wait=_mean(steady),
        wait_p90=_at(steady, 90),
        waiting=float(waited.sum() / turns.sum()) if turns.sum() else None,
        first=_mean(waits.wait[waits.is_first]),
        fetch=_mean(fetch),
        supply=1e9 * max(seen, 1) / float(fetch.mean()) if len(fetch) and fetch.mean() else None,
        demand=1e9 / between if between > 0 else None,
        ready=float(ready.mean()) if len(ready) else None,
        empty=float((ready == 0).mean()) if len(ready) else None,
        busy=_busy(timings, loader),
        stage=stage,
        stage_share=share,
    )


_COLUMNS = [
    Column(key="loader", label="loader", help="Its dataset, and where it is created."),
    Column(key="workers", label="workers", unit="count", help="Its worker processes; 0 means none."),
    Column(key="batches", label="batches", unit="count", help="How many were requested."),
    Column(key="wait", label="wait", unit="ns", help="Mean wait for a batch, without the first two of an epoch."),
    Column(key="wait_p90", label="p90", unit="ns", help="The 90th percentile of the waits."),
    Column(key="waiting", label="waiting", unit="share", help="The part of the loop over this loader that is waiting."),
    Column(key="first", label="first", unit="ns", help="Wait for the first batch of an epoch, while workers start."),
    Column(key="fetch", label="fetch", unit="ns", help="Time one process takes to load one batch."),
    Column(key="supply", label="supply/s", unit="number", help="Batches per second that the processes can load."),
    Column(key="demand", label="demand/s", unit="number", help="Batches per second that training could use."),
    Column(key="ready", label="ready", unit="number", help="Mean queue length when a batch was requested."),
    Column(key="empty", label="empty", unit="share", help="How often the queue was empty then."),
    Column(key="busy", label="busy", unit="share", help="The fraction of time that workers spend loading."),
    Column(key="stage", label="slowest stage", help="The slowest stage of loading a batch."),
    Column(key="stage_share", label="of fetch", unit="share", help="Its share of the loading time."),
]  # fmt: skip


def _notes(rows: list[Starved]) -> list[str]:
    """The one sentence that follows from the first row."""
    if not rows or rows[0].waiting is None:
        return []
    worst, waiting = rows[0], rows[0].waiting
    if waiting < 0.05:
        return [f"Training hardly waits for {worst.loader}: {waiting * 100:.0f}% of its loop."]
    said = f"Training waits {waiting * 100:.0f}% of its loop for {worst.loader}"
    supply, demand = worst.supply, worst.demand
    if supply and demand and supply < demand:
        said += f": it could use {_rate(demand)} batches a second, {_who(worst.workers)} load {_rate(supply)}"
    if worst.stage and worst.stage_share:
        said += f"; {worst.stage_share * 100:.0f}% of loading is '{worst.stage}'"
    return [said + "."]


def _who(workers: int) -> str:
    return f"{workers} workers can" if workers > 1 else "1 worker can" if workers else "the main process can"


def _rate(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.2g}"


def _slowest(timings: DataTimings) -> dict[int, tuple[str, float]]:
    sheet = stages_of(timings, {loader: str(loader) for loader in timings.loaders})
    found: dict[int, tuple[str, float]] = {}
    for row in map(Stage._make, sheet.rows):
        loader = int(row.loader)
        if row.share is not None and row.share > found.get(loader, ("", 0.0))[1]:
            found[loader] = (row.stage, row.share)
    return found


def _busy(timings: DataTimings, loader: int) -> float | None:
    mine = (timings.loader == loader) & (timings.worker >= 0)
    fetching = int(timings.dur[mine & timings.named("fetch")].sum())
    idle = int(timings.dur[mine & timings.named("queue")].sum())
    return fetching / (fetching + idle) if fetching + idle else None


def _mean(values: Any) -> int | None:
    return round(float(values.mean())) if len(values) else None


def _at(values: Any, percent: int) -> int | None:
    return round(float(np.percentile(values, percent))) if len(values) else None


@analysis("data-workers", view="data", of="profile")
def data_workers(profile: Profile, rank: int) -> Sheet | None:
    """What each worker did: how many batches, how fast, how long it had nothing to do."""
    timings = _timings(profile, rank)
    if timings is None or not (timings.worker >= 0).any():
        return None
    names = loader_names(profile, rank)
    rows: list[list[Any]] = []
    for loader in timings.loaders:
        for worker in np.unique(timings.worker[(timings.loader == loader) & (timings.worker >= 0)]).tolist():
            mine = (timings.loader == loader) & (timings.worker == worker)
            fetch, idle = timings.dur[mine & timings.named("fetch")], timings.dur[mine & timings.named("queue")]
            whole = int(fetch.sum() + idle.sum())
            rows.append([
                names.get(loader, f"loader {loader}"),
                worker,
                len(fetch),
                _mean(fetch),
                _at(fetch, 90),
                _mean(timings.dur[mine & timings.named("put")]),
                float(fetch.sum() / whole) if whole else None,
            ])  # fmt: skip
    return Sheet(
        id="data-workers",
        title="DataLoader workers",
        columns=[
            Column(key="loader", label="loader", help="The loader of the worker.", hidden=len(timings.loaders) == 1),
            Column(key="worker", label="worker", unit="count", help="The worker's number; kept when it restarts."),
            Column(key="batches", label="batches", unit="count", help="How many it has fetched."),
            Column(key="fetch", label="fetch", unit="ns", help="Mean time for one batch."),
            Column(key="fetch_p90", label="p90", unit="ns", help="The 90th percentile."),
            Column(key="put", label="packing", unit="ns", help="Mean time to pack one for the main process."),
            Column(key="busy", label="busy", unit="share", help="The fraction of its time spent fetching."),
        ],
        rows=rows,
    )


@analysis("data-waits", view="data", of="profile")
def data_waits(profile: Profile, rank: int) -> Curve | None:
    """The wait for every batch, over time."""
    timings = _timings(profile, rank)
    if timings is None:
        return None
    return _curve(timings, "data-waits", "Wait for each batch", "wait")


@analysis("data-queue", view="data", of="profile")
def data_queue(profile: Profile, rank: int) -> Curve | None:
    """Batches that were ready when the training asked for one."""
    timings = _timings(profile, rank)
    if timings is None or not (timings.ready >= 0).any():
        return None
    return _curve(timings, "data-queue", "Batches ready when one was requested", "ready")


def _curve(timings: DataTimings, id: str, title: str, what: str) -> Curve:
    loader = max(
        timings.loaders, key=lambda one: int(timings.waits(one).wait.sum()) if len(timings.waits(one).wait) else 0
    )
    waits = timings.waits(loader)
    at = waits.start - timings.trace.begin_ns
    values = waits.wait if what == "wait" else waits.ready
    kept = _extremes(values)
    return Curve(
        id=id,
        title=title,
        at_ns=[int(one) for one in at[kept]],
        lines={what: [float(one) for one in values[kept]]},
        unit="ns" if what == "wait" else "count",
    )


def _extremes(values: Any) -> Any:
    """Places of the smallest and largest of each stretch, when there are more than a screen shows."""
    if len(values) <= _POINTS:
        return np.arange(len(values))
    edges = np.linspace(0, len(values), _POINTS // 2 + 1).astype(int)
    pairs = zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    found = [(a + int(values[a:b].argmin()), a + int(values[a:b].argmax())) for a, b in pairs if b > a]
    return np.unique(np.array(found))
