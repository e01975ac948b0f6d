"""The metrics of the runs side by side, with the best marked and the change against a baseline."""

from __future__ import annotations

from stepscope.runs.catalogue.resolve import choose
from stepscope.views.compare.metrics import MetricsRequest, MetricsTable, compare_metrics
from stepscope.views.panels._asked import keys_of, need_keys
from stepscope.views.report.pack import Packing
from stepscope.views.report.panel import Bound, Options, PanelKind, names_of
from stepscope.views.report.pictures import Marked, Pictures

_MOST_ROWS = 60


class MetricsOptions(Options, kw_only=True):
    keys: str | list[str] = ""
    """Some metrics; by default all."""
    baseline: str = ""
    """The baseline run; by default the first."""


def check(bound: Bound) -> None:
    keys = names_of(bound.options.keys)
    if keys:
        need_keys(bound, keys, keys_of(bound), "keys")
    request(bound)


def request(bound: Bound) -> MetricsRequest:
    base = choose(bound.options.baseline, bound.entries).id if bound.options.baseline else None
    return MetricsRequest(runs=bound.runs, metrics=names_of(bound.options.keys), base=base)


def pack(bound: Bound, packing: Packing) -> None:
    packing.ask("POST /api/compare/metrics", request(bound))


def write(bound: Bound, out: Pictures) -> str:
    found = compare_metrics(bound.ctx, request(bound))
    head = ["metric", *(column.label for column in found.compared.columns)]
    rows = [[row.key, *_cells(row.value, row.best)] for row in found.rows[:_MOST_ROWS]]
    return out.table(head, rows, set(range(1, len(head)))) + _more(found)


def _cells(values: list[float | str | bool | None], best: float | None) -> list[object]:
    return [Marked(f"**{value:.6g}**") if isinstance(value, float) and value == best else value for value in values]


def _more(found: MetricsTable) -> str:
    hidden = max(0, len(found.rows) - _MOST_ROWS) + found.omitted
    return f"\n*{hidden} more metrics.*\n" if hidden else ""


PANEL = PanelKind("metrics", "Metrics side by side, against a baseline", MetricsOptions, pack, write, check)
