"""Two numbers of each run against each other."""

from __future__ import annotations

from stepscope.errors import QueryError, UsageError
from stepscope.report.draw_points import DrawnPoint, draw_points
from stepscope.runs.query.query import parse_field
from stepscope.views.hues import HUES
from stepscope.views.panels import parallel
from stepscope.views.parameters.columns import ParameterColumn
from stepscope.views.parameters.parameters import Parameters, ParametersRequest, parameters
from stepscope.views.report.pack import Packing
from stepscope.views.report.panel import Bound, Options, PanelKind
from stepscope.views.report.pictures import Pictures


class ScatterOptions(Options, kw_only=True):
    x: str = ""
    """A config key or a metric, as the runs table names it: `config.lr`, `val/loss.min`."""
    y: str = ""
    metric: str = ""
    """The runs' main metric; by default that of `y`, or the one they seem to optimize."""


def check(bound: Bound) -> None:
    for name in (bound.options.x, bound.options.y):
        try:
            if name:
                parse_field(name)
        except QueryError as error:
            raise UsageError(f"scatter cannot draw {name[:60]!r}: {error.message}") from error


def request(bound: Bound) -> ParametersRequest:
    """The page's request: the chosen metric, and every other used as an axis."""
    options: ScatterOptions = bound.options
    named = [name for key in (options.y, options.x) if key and (name := parallel.metric_of(key)) is not None]
    metric = options.metric or (named[0] if named else "")
    return ParametersRequest(
        runs=bound.runs, metric=metric, metrics=[one for one in dict.fromkeys(named) if one != metric]
    )


def pack(bound: Bound, packing: Packing) -> None:
    packing.ask("POST /api/parameters", request(bound), parallel.alone, ("runs", "metric", "metrics"))


def write(bound: Bound, out: Pictures) -> str:
    """Two numeric columns as an image; otherwise all columns as a table."""
    found = parameters(bound.ctx, request(bound))
    x, y = (_column(found, name) for name in (bound.options.x, bound.options.y))
    if x is None or y is None:
        chosen = [name for name in (bound.options.x, bound.options.y) if name]
        return parallel.as_table(found, chosen, out)
    few = len(found.ids) <= 12  # with more runs, colors are indistinguishable
    points = [
        DrawnPoint(name, out.hues.get(run, 0) % HUES if few else 0, across, up)
        for run, name, across, up in zip(found.ids, found.names, x.values, y.values, strict=True)
        if across is not None and up is not None
    ]
    title = bound.title or f"{y.label} over {x.label}"
    picture = draw_points(points, title, x_words=x.label, y_words=y.label, log_x=x.log, log_y=y.log)
    return out.picture(title, "svg", picture.encode("utf-8", "replace"), title)


def _column(found: Parameters, name: str) -> ParameterColumn | None:
    """A numeric column by its key, or without its prefix."""
    for one in found.columns:
        if name and one.kind == "number" and name in (one.key, one.label, one.key.removeprefix("config.")):
            return one
    return None


PANEL = PanelKind("scatter", "Two numbers of each run against each other", ScatterOptions, pack, write, check)
