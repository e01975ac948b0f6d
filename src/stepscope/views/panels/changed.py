"""What changed between a working and a failing run, likeliest reason first."""

from __future__ import annotations

from msgspec.structs import replace

from stepscope.views.compare.changed import ChangedRequest, WhatChanged, compare_changed
from stepscope.views.panels._public import short_place
from stepscope.views.report.pack import Packing
from stepscope.views.report.panel import Bound, Options, PanelKind
from stepscope.views.report.pictures import Pictures, told

_MOST_ROWS = 20
_PRIVATE = {"machine", "environment", "command"}
"""Differences that name hosts, users, folders and variables: shown in the app, never exported."""


def pack(bound: Bound, packing: Packing) -> None:
    packing.ask("POST /api/compare/changed", ChangedRequest(runs=bound.runs), public)


def public(found: WhatChanged) -> WhatChanged:
    """Without anything that identifies the machine."""
    changes = [replace(one, place=short_place(one.place)) for one in found.changes if one.kind not in _PRIVATE]
    return replace(found, changes=changes, notes=[])


def write(bound: Bound, out: Pictures) -> str:
    found = public(compare_changed(bound.ctx, ChangedRequest(runs=bound.runs)))
    labels = {column.id: column.label for column in found.compared.columns}
    a, b = labels.get(found.a, found.a), labels.get(found.b, found.b)
    parts = [f"{told(found.headline)}\n"]
    if found.outcome:
        parts.append(out.table(["", a, b], [[one.label, one.a, one.b] for one in found.outcome]))
    if found.changes:
        rows = [[one.likely, one.key, one.a, one.b, one.why] for one in found.changes[:_MOST_ROWS]]
        parts.append(out.table(["likely", "what", a, b, "why"], rows))
    return "\n".join(parts)


PANEL = PanelKind("changed", "What changed between two runs", Options, pack, write, needs_runs=2)
