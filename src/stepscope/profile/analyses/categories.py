"""What a trace holds, by the categories it gives its events: also those we know nothing of."""

from __future__ import annotations

import numpy as np

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.trace.trace import Kind, Trace
from stepscope.records.profile import Check, Column, Sheet

__all__ = ["categories"]

_COLUMNS = [
    Column(key="category", label="Category", help="As the trace calls it."),
    Column(
        key="kind", label="Taken as", help="What Stepscope takes such events for; 'other' is counted and shown only."
    ),
    Column(key="events", label="Events", unit="count", help="How many events have this category.", sums=True),
    Column(
        key="total_ns", label="Time", unit="ns", help="Their durations added up, nested ones too; none for instants."
    ),
    Column(key="lanes", label="Lanes", unit="count", help="Threads and streams that have such events.", hidden=True),
]


@analysis("categories", view="overview")
def categories(trace: Trace) -> Sheet | None:
    """The categories of events in the trace, how many there are, and what they are taken for."""
    events = trace.events
    if not len(events):
        return None
    n_kinds, n_lanes = len(Kind), len(events.lanes)
    group = events.cat.astype(np.int64) * n_kinds + trace.kind
    counts = np.bincount(group, minlength=len(events.cats) * n_kinds)
    found = np.flatnonzero(counts)
    place = np.zeros(len(counts), np.int64)
    place[found] = np.arange(len(found))
    at = place[group]
    total, timed = np.bincount(at, np.maximum(events.dur, 0)), np.bincount(at, events.dur > 0)
    lanes = np.bincount(np.flatnonzero(np.bincount(at * n_lanes + events.lane)) // n_lanes)
    order = np.argsort(-counts[found], kind="stable").tolist()
    rows = [
        [
            events.cats[int(found[i]) // n_kinds] or "(none)",
            Kind(int(found[i]) % n_kinds).name.lower().replace("_", " "),
            int(counts[found[i]]),
            int(total[i]) if timed[i] else None,
            int(lanes[i]),
        ]
        for i in order
    ]
    counted = int(counts.sum())
    return Sheet(
        id="categories",
        title="What the trace holds",
        columns=_COLUMNS,
        rows=rows,
        sort="events",
        checks=[
            Check(
                name="categories hold every event",
                got=counted,
                expected=len(events),
                unit="count",
                ok=counted == len(events),
            )
        ],
        notes=_notes(trace),
    )


def _notes(trace: Trace) -> list[str]:
    header = trace.events.header
    notes = list(header.notes)
    if header.truncated:
        notes.insert(0, "The file is cut off: what it holds up to there is here.")
    if header.repaired:
        notes.append(f"{header.repaired:,} events were no valid JSON (a quote in a name) and were mended.")
    if header.skipped:
        notes.append(f"{header.skipped:,} entries could not be read and are missing.")
    return notes
