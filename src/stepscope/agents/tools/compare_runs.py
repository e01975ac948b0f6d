"""What changed between runs."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from stepscope.agents.tool import Answer, tool
from stepscope.agents.tool_context import Desk
from stepscope.agents.words import name, table
from stepscope.common.units import number
from stepscope.errors import UsageError
from stepscope.views.compare.changed import ChangedRequest, WhatChanged, compare_changed
from stepscope.views.compare.metrics import MetricsRequest, MetricsTable, compare_metrics

Runs = Annotated[
    list[str],
    Field(description="Two runs, the working one first; or up to 12, of which the best and the worst are compared."),
]
MOST_RUNS = 12
MOST_CHANGES = 20
MOST_METRICS = 15


@tool("Compare runs")
def compare_runs(desk: Desk, runs: Runs) -> Answer:
    """What differs between a run that works and one that does not, the likeliest reason first: config, code, data,
    packages, findings; where their curves diverge; and their metrics side by side.
    """
    ids = list(dict.fromkeys(desk.id_of(one) for one in runs))
    if not 2 <= len(ids) <= MOST_RUNS:
        raise UsageError(f"{len(ids)} different runs; expected 2 to {MOST_RUNS}: list_runs names them")
    pair = len(ids) == 2
    asked = ChangedRequest(runs=ids, a=ids[0] if pair else None, b=ids[1] if pair else None)
    found = compare_changed(desk.ctx, asked)
    metrics = compare_metrics(desk.ctx, MetricsRequest(runs=ids))
    labels = {column.id: column.label for column in found.compared.columns}
    a, b = name(labels.get(found.a, found.a)), name(labels.get(found.b, found.b))
    parts = [
        f"{a} (A) against {b} (B){f', chosen as {found.picked}' if found.picked else ''}.\n{name(found.headline, 600)}",
        table(["", "A", "B"], [[name(row.label), name(row.a), name(row.b)] for row in found.outcome]),
        _changes(found),
        _partings(found),
        _metrics(metrics),
        "the same: " + ", ".join(name(one) for one in found.same[:20]) if found.same else "",
        *(name(note, 300) for note in found.notes[:10]),
    ]
    return Answer("\n\n".join(part for part in parts if part), _data(found, metrics))


def _changes(found: WhatChanged) -> str:
    if not found.changes:
        return "No difference is known."
    rows = []
    for one in found.changes[:MOST_CHANGES]:
        place = f" at {name(one.place)}" if one.place else ""
        what = f"{one.kind} {name(one.key)}{place}"
        rows.append([one.likely, what, name(one.a or "-", 200), name(one.b or "-", 200), one.why])
    more = f"\nand {len(found.changes) - MOST_CHANGES} more" if len(found.changes) > MOST_CHANGES else ""
    return "What differs:\n" + table(["likely", "what", "A", "B", "why here"], rows) + more


def _partings(found: WhatChanged) -> str:
    parted = [one for one in found.partings if one.step is not None]
    rows = [
        f"- {name(one.key)} from step {one.step}: {number(one.a)} against {number(one.b)} "
        f"(noise {number(one.noise)}, from {one.noise_from})"
        for one in parted[:8]
    ]
    return "Where the curves diverge:\n" + "\n".join(rows) if rows else ""


def _metrics(found: MetricsTable) -> str:
    rows = [row for row in found.rows if row.differs][:MOST_METRICS]
    if not rows:
        return ""
    heads = ["metric", *(name(column.label) for column in found.compared.columns)]
    return "Metrics that differ (last):\n" + table(heads, [[name(one.key), *map(number, one.value)] for one in rows])


def _data(found: WhatChanged, metrics: MetricsTable) -> dict[str, Any]:
    return {
        "a": found.a,
        "b": found.b,
        "headline": found.headline,
        "outcome": {row.label: [row.a, row.b] for row in found.outcome},
        "metrics": {row.key: row.value for row in metrics.rows if row.differs},
        "columns": [column.label for column in metrics.compared.columns],
        "changes": [
            {"likely": one.likely, "kind": one.kind, "key": one.key, "a": one.a, "b": one.b, "why": one.why}
            for one in found.changes[:MOST_CHANGES]
        ],
        "partings": [
            {"key": one.key, "step": one.step, "a": one.a, "b": one.b} for one in found.partings if one.step is not None
        ],
    }
