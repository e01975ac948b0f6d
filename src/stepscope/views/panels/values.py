"""One number of each run as bars, boxes or a histogram, by run or by group."""

from __future__ import annotations

import math
from typing import Literal

from stepscope.errors import UsageError
from stepscope.runs.query.query import parse_field
from stepscope.views.panels.chart import field_of
from stepscope.views.panels.table import without_notes
from stepscope.views.report.pack import Packing
from stepscope.views.report.panel import Bound, Options, PanelKind
from stepscope.views.report.pictures import Pictures
from stepscope.views.runs import RunsRequest


class ValuesOptions(Options, kw_only=True):
    value: str = ""
    """A column of the runs table: `val/acc.max`, `duration`, `config.lr`."""
    shape: Literal["bar", "box", "histogram"] = "bar"
    group: str = ""
    """A config key or column: runs that share its value become one row."""


def check(bound: Bound) -> None:
    if not bound.options.value:
        raise UsageError("values needs value, such as val/acc.max or duration")
    for column in _columns(bound):
        parse_field(column)


def pack(bound: Bound, packing: Packing) -> None:
    request = RunsRequest(runs=bound.runs, columns=_columns(bound), limit=len(bound.runs), archived=True)
    packing.ask("POST /api/runs", request, without_notes, ("runs", "columns"))


def write(bound: Bound, out: Pictures) -> str:
    """A table of the groups, or of the runs, with counts and means."""
    value, *by = (parse_field(column) for column in _columns(bound))
    groups: dict[str, list[float]] = {}
    for entry in bound.entries:
        number = entry.value(value)
        if isinstance(number, (int, float)) and math.isfinite(number):
            groups.setdefault(str(entry.value(by[0])) if by else entry.name, []).append(float(number))
    rows: list[list[object]] = [
        [name, len(some), min(some), sum(some) / len(some), max(some)] for name, some in groups.items()
    ]
    return out.table([bound.options.group or "run", "runs", "least", "mean", "greatest"], rows, {1, 2, 3, 4})


def _columns(bound: Bound) -> list[str]:
    options: ValuesOptions = bound.options
    return [options.value, *([field_of(options.group)] if options.group else [])]


PANEL = PanelKind("values", "Bars, boxes or a histogram of one number", ValuesOptions, pack, write, check)
