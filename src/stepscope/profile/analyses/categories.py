"""What a trace holds, by the categories it gives its events: also those we know nothing of."""

from __future__ import annotations

import numpy as np

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.outside import unknown_categories
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Check, Column, Sheet

_COLUMNS = [
    Column(key="category", label="Category", help="As named in the trace."),
    Column(
        key="kind", label="Taken as", help="How Stepscope interprets these events; 'other' is only counted and shown."
    ),
    Column(key="events", label="Events", unit="count", help="How many events have this category.", sums=True),
    Column(
        key="total_ns",
        label="Time",
        unit="ns",
        help="The sum of their durations, nested ones included; none for instants.",
    ),
]


@analysis("categories", view="overview")
def categories(trace: Trace) -> Sheet | None:
    """The categories of events in the trace, how many there are, and the category they are counted in."""
    events = trace.events
    if not len(events):
        return None
    n_kinds = len(Kind)
    group = events.cat.astype(np.int64) * n_kinds + trace.kind
    counts = np.bincount(group, minlength=len(events.cats) * n_kinds)
    total = np.bincount(group, np.maximum(events.dur, 0), len(counts))
    found = np.flatnonzero(counts)
    rows = [
        [
            events.cats[one // n_kinds] or "(none)",
            Kind(one % n_kinds).name.lower().replace("_", " "),
            int(counts[one]),
            int(total[one]) or None,
        ]
        for one in found[np.argsort(-counts[found], kind="stable")].tolist()
    ]
    counted = int(counts.sum())
    return Sheet(
        id="categories",
        title="Contents of the trace",
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
        notes.insert(0, "The file is truncated: only events before the end are shown.")
    if header.repaired:
        notes.append(f"{header.repaired:,} events were not valid JSON (a quote in a name) and were repaired.")
    unknown = unknown_categories(trace)
    if unknown:
        names = ", ".join(f"{name} ({count:,} spans, {ns / 1e6:.3g} ms)" for name, (count, ns) in unknown.items())
        notes.append(f"Events of unknown categories, not shown in any other view: {names}.")
    if header.skipped:
        notes.append(f"{header.skipped:,} entries could not be read and are missing.")
    return notes
