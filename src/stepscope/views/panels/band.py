"""The mean of groups of runs with a band around it: what several seeds of the same config did."""

from __future__ import annotations

from stepscope.errors import UsageError
from stepscope.views.panels import chart
from stepscope.views.report.panel import Bound, PanelKind


def check(bound: Bound) -> None:
    if not bound.options.group:
        raise UsageError("band needs group: the config key whose values are the groups, such as lr")
    chart.check(bound)


PANEL = PanelKind("band", "Groups of runs: their mean and a band", chart.ChartOptions, chart.pack, chart.write, check)
