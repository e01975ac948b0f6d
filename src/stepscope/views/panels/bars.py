"""One value of each run as a bar."""

from __future__ import annotations

import math
from typing import Literal

from stepscope.report.draw_bars import draw_bars
from stepscope.runs.query.fields import Field
from stepscope.views.panels._asked import keys_of, need_keys
from stepscope.views.panels.table import without_notes
from stepscope.views.report.pack import Packing
from stepscope.views.report.panel import Bound, Options, PanelKind
from stepscope.views.report.pictures import Pictures
from stepscope.views.runs import RunsRequest


class BarsOptions(Options, kw_only=True):
    key: str = ""
    stat: Literal["last", "min", "max", "mean"] = "last"


def check(bound: Bound) -> None:
    need_keys(bound, [bound.options.key] if bound.options.key else [], keys_of(bound))


def pack(bound: Bound, packing: Packing) -> None:
    name = bound.options.key.replace("\\", "\\\\").replace('"', '\\"')
    column = f'"{name}".{bound.options.stat}'
    request = RunsRequest(runs=bound.runs, columns=[column], limit=len(bound.runs), archived=True)
    packing.ask("POST /api/runs", request, without_notes, ("runs", "columns"))


def write(bound: Bound, out: Pictures) -> str:
    field = _field(bound)
    bars = []
    for entry in bound.entries:
        value = entry.value(field)
        bars.append((entry.name, out.hues.get(entry.id, 0), float(value) if isinstance(value, (int, float)) else None))
    bars.sort(key=lambda bar: -math.inf if bar[2] is None or math.isnan(bar[2]) else bar[2], reverse=True)
    title = bound.title or f"{bound.options.key} ({bound.options.stat})"
    return out.picture(title, "svg", draw_bars(bars, title).encode("utf-8", "replace"), title)


def _field(bound: Bound) -> Field:
    return Field("metric", bound.options.key, bound.options.stat)


PANEL = PanelKind("bars", "One value of each run, side by side", BarsOptions, pack, write, check)
