"""What a batch is made of: reading, each transform, collation; and what happens to it on its way to the training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.data.facts import loader_names
from stepscope.profile.data.timings import DataTimings
from stepscope.records.profile import Check, Column, Sheet

if TYPE_CHECKING:
    from stepscope.profile.profile import Profile

_SHOWN = {
    "sample": "dataset: own code",
    "samples": "dataset: own code (a batch at once)",
    "fetch": "around the samples",
    "put": "packing for the main process",
    "pin": "pinning",
}
_BESIDE = ("put", "pin")
"""Not inside a fetch: they go on while the next batch is fetched."""


@analysis("data-stages", view="data", of="profile")
def data_stages(profile: Profile, rank: int) -> Sheet | None:
    """Where the time of loading a batch goes, stage by stage."""
    trace = profile.trace(rank)
    if trace is None:
        return None
    timings = DataTimings(trace)
    return None if not timings.named("fetch").any() else stages_of(timings, loader_names(profile, rank))


class Stage(NamedTuple):
    """A row of the sheet: the fields are its columns, in their order. Times are in nanoseconds."""

    loader: str
    stage: str
    place: str | None
    calls: int
    mean: int
    p50: int
    p90: int
    total: int
    share: float | None
    per_batch: int


def stages_of(timings: DataTimings, names: dict[int, str]) -> Sheet:
    """One row a stage of a loader. Times are a stage's own: stages inside it are rows of their own."""
    rows: list[Stage] = []
    got = expected = 0
    alone = len(timings.loaders) == 1
    for loader in timings.loaders:
        inside = timings.in_detail & (timings.loader == loader)
        fetches = inside & timings.named("fetch")
        whole = int(timings.dur[fetches].sum())
        got, expected = got + int(timings.own[inside].sum()), expected + whole
        beside = np.any([timings.named(name) for name in _BESIDE], axis=0) & (timings.loader == loader)
        rows += _rows(timings, inside, names.get(loader, f"loader {loader}"), whole, int(fetches.sum()))
        rows += _rows(timings, beside, names.get(loader, f"loader {loader}"), None, 0)
    rows.sort(key=lambda row: (row.loader, row.share is None, -(row.share or 0.0), -row.total))
    fetched, closely = int(timings.named("fetch").sum()), int((timings.named("fetch") & (timings.detail == 1)).sum())
    return Sheet(
        id="data-stages",
        title="Stages of loading a batch",
        columns=[
            Column(key="loader", label="loader", help="Which DataLoader.", hidden=alone),
            Column(key="stage", label="stage", help="What was done."),
            Column(key="place", label="where", unit="line", help="Where the transform or collate function is written."),
            Column(key="calls", label="calls", unit="count", help="How often it was timed."),
            Column(key="mean", label="mean", unit="ns", help="Its own time for one call, without stages inside it."),
            Column(key="p50", label="p50", unit="ns", help="The median over the calls.", hidden=True),
            Column(key="p90", label="p90", unit="ns", help="The 90th percentile of the calls."),
            Column(key="total", label="total", unit="ns", help="The total of all timed calls.", sums=True),
            Column(key="share", label="share", unit="share", help="Of fetching a batch; none if outside.", sums=alone),
            Column(key="per_batch", label="a batch", unit="ns", help="Its time per batch.", sums=alone),
        ],
        rows=[list(row) for row in rows],
        sort="share",
        checks=[
            Check(
                name="stages sum to the fetch",
                got=float(got),
                expected=float(expected),
                ok=abs(got - expected) <= 0.01 * max(expected, 1),
            )
        ],
        notes=[_looked_at(closely, fetched)],
    )  # fmt: skip


def _looked_at(closely: int, fetched: int) -> str:
    if closely == fetched:
        return f"All {fetched} batches were timed in detail."
    return f"{closely} of {fetched} batches were timed in detail, the others only as a whole."


def _rows(timings: DataTimings, mask: Any, loader: str, whole: int | None, fetches: int) -> list[Stage]:
    """A row for each name and place among the masked spans."""
    at = np.flatnonzero(mask)
    if not len(at):
        return []
    pairs = np.stack([timings.name[at].astype(np.int64), timings.place[at].astype(np.int64)], axis=1)
    kinds, which = np.unique(pairs, axis=0, return_inverse=True)
    which = which.reshape(-1)
    rows: list[Stage] = []
    for number, (name, place) in enumerate(kinds.tolist()):
        own = timings.own[at[which == number]]
        total, mean = int(own.sum()), round(float(own.mean()))
        text = timings.trace.events.names[name]
        row = Stage(
            loader=loader,
            stage=_SHOWN.get(text, text),
            place=timings.text(place),
            calls=len(own),
            mean=mean,
            p50=round(float(np.percentile(own, 50))),
            p90=round(float(np.percentile(own, 90))),
            total=total,
            share=total / whole if whole else None,
            per_batch=round(total / fetches) if fetches else mean,
        )
        rows.append(row)
    return rows
