"""The runs' settings and outcomes as lines over parallel axes."""

from __future__ import annotations

import re

from msgspec.structs import replace

from stepscope.views.panels._asked import keys_of, need_keys
from stepscope.views.parameters.columns import ParameterColumn
from stepscope.views.parameters.parameters import Parameters, ParametersRequest, parameters
from stepscope.views.report.pack import Packing
from stepscope.views.report.panel import Bound, Options, PanelKind, names_of
from stepscope.views.report.pictures import Pictures

_MOST_ROWS = 50


class ParallelOptions(Options, kw_only=True):
    columns: str | list[str] = ""
    """The axes; by default the config that differs."""
    metric: str = ""
    """The outcome metric; by default the runs' main metric."""


def check(bound: Bound) -> None:
    if bound.options.metric:
        need_keys(bound, [bound.options.metric], keys_of(bound), "metric")


def request(bound: Bound) -> ParametersRequest:
    """The page's request: the metric, and those used as axes."""
    metric = bound.options.metric
    named = [name for key in names_of(bound.options.columns) if (name := metric_of(key)) is not None]
    return ParametersRequest(
        runs=bound.runs, metric=metric, metrics=[one for one in dict.fromkeys(named) if one != metric]
    )


def metric_of(key: str) -> str | None:
    """The metric in a column's key, as web/src/lib/param-table.ts reads it.

    >>> metric_of("val/loss.min"), metric_of('"odd name".last'), metric_of("config.lr")
    ('val/loss', 'odd name', None)
    """
    if key.startswith("config."):
        return None
    bare = re.sub(r"\.(best|last|min|max|mean)$", "", key)
    quoted = re.fullmatch(r'"(.*)"', bare, re.DOTALL)
    return bare if quoted is None else re.sub(r"\\(.)", r"\1", quoted[1])


def pack(bound: Bound, packing: Packing) -> None:
    packing.ask("POST /api/parameters", request(bound), alone, ("runs", "metric", "metrics"))


def alone(found: Parameters) -> Parameters:
    """Without data about the whole store."""
    return replace(found, version=0)


def write(bound: Bound, out: Pictures) -> str:
    return as_table(parameters(bound.ctx, request(bound)), names_of(bound.options.columns), out)


def as_table(found: Parameters, chosen: list[str], out: Pictures) -> str:
    """The same numbers as a table."""
    columns = [
        one
        for at, one in enumerate(found.columns)
        if (at == 0 and found.metric is not None) or not chosen or one.key in chosen or one.label in chosen
    ]
    rows = [[name, *(_cell(one, at) for one in columns)] for at, name in enumerate(found.names[:_MOST_ROWS])]
    more = len(found.names) - _MOST_ROWS
    text = out.table(["run", *(one.label for one in columns)], rows, set(range(1, len(columns) + 1)))
    return text + (f"\n*{more} more runs.*\n" if more > 0 else "")


def _cell(column: ParameterColumn, at: int) -> object:
    value = column.values[at]
    if at in column.broken:
        return "not finite"
    return column.names[int(value)] if value is not None and column.kind != "number" else value


PANEL = PanelKind("parallel", "Parameters and outcome over parallel axes", ParallelOptions, pack, write, check)
