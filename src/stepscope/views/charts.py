"""The *Charts* page: the panels available for the chosen runs, and their data."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from stepscope.errors import NotFound
from stepscope.runs.catalogue.defined_goals import said_goals
from stepscope.runs.points.summary import rule_for
from stepscope.views.context import Context
from stepscope.views.panel_order import in_order
from stepscope.views.route import route

MAX_RUNS = 1000
MAX_PANELS = 10_000


class PanelsRequest(msgspec.Struct):
    runs: list[str]


class PanelInfo(msgspec.Struct):
    """A panel: one key that at least one of the runs logged."""

    key: str
    kind: str
    """scalar, or a kind of media (docs/design/001 lists them)."""
    section: str
    """The key's prefix before the first `/`, or "" for none. `system` has the machine's metrics."""
    runs: int
    """Number of runs that have it."""
    x: str | None = None
    """The x-axis set by a metric rule."""


class Panels(msgspec.Struct):
    panels: list[PanelInfo]
    omitted: int = 0
    """Number of panels beyond the page's limit."""


class Smoothing(msgspec.Struct, frozen=True):
    kind: Literal["none", "ema", "gaussian", "mean"] = "none"
    amount: float = 0.0
    """ema: weight of the past, 0 to 0.999 (time-weighted); gaussian and mean: width in points."""


class SeriesRequest(msgspec.Struct):
    """Lines for one or more panels. One POST serves all visible panels."""

    runs: list[str]
    keys: list[str]
    x: str = "step"
    """step, relative (seconds since start), wall (unix seconds), or the name of a logged series."""
    lo: float | None = None
    hi: float | None = None
    """The zoomed range of x; buckets are computed inside it."""
    buckets: int = 800
    smoothing: Smoothing = Smoothing()
    superseded: bool = False
    ranks: bool = False
    """Also lines of ranks other than the first."""


class Line(msgspec.Struct):
    """One run's series in a panel, as columns. Up to `buckets` buckets with their extremes; with fewer points than
    buckets, every point is its own bucket and `low == high == value`."""

    run: str
    key: str
    rank: int
    x: list[float]
    value: list[float | None]
    """The mean of the bucket's finite values (for one point, its value); None if there are none."""
    low: list[float | None]
    high: list[float | None]
    smooth: list[float | None] | None
    nan: list[int]
    """Indices of buckets that contain a NaN."""
    inf: list[int]
    """Indices of buckets that contain +Inf, as index, or -Inf, as -index-1."""
    points: int
    """Total number of points in the line."""
    superseded: bool = False
    last: float | None = None
    version: int = 0
    nan_x: list[float] = []
    """The x of the first NaN in each bucket of `nan`."""
    inf_x: list[float] = []
    """The same for `inf`."""


class SeriesData(msgspec.Struct):
    lines: list[Line]
    missing: list[str] = []
    """What could not be drawn, in words (a run without the chosen x-axis, for example)."""
    partial: bool = False
    """Reading all runs took too long; repeat the request to get the rest."""


class MediaRequest(msgspec.Struct):
    runs: list[str]
    key: str
    step: int | None = None
    """The step wanted: each run returns its newest item at or before it; None for the newest of all."""


class MediaItem(msgspec.Struct):
    run: str
    key: str
    step: int
    time: float
    kind: str
    mime: str
    index: int
    count: int
    meta: dict[str, Any]
    url: str | None
    """The address of the bytes; None if they are inline."""
    text: str | None = None
    """Inline content for text, tables, curves, confusion matrices and plotly figures."""
    histogram: Histogram | None = None
    error: str | None = None
    """Why its content is missing: damaged, or dropped on a full disk."""


class Histogram(msgspec.Struct):
    edges: list[float]
    counts: list[float]


class MediaSteps(msgspec.Struct):
    run: str
    steps: list[int]


class MediaData(msgspec.Struct):
    items: list[MediaItem]
    steps: list[MediaSteps]


class HistogramsRequest(msgspec.Struct):
    """Histograms of one key over time, rebinned by the server to common edges."""

    run: str
    key: str
    rows: int = 60
    bins: int = 48
    tails: float = 0.0
    """The fraction of each histogram that may lie beyond the edges, so that outliers do not squeeze the rest."""


class Histograms(msgspec.Struct):
    steps: list[int]
    times: list[float]
    edges: list[float]
    counts: list[list[float]]
    """One row per step."""
    percentiles: list[list[float]]
    """Per step: 0, 7, 16, 31, 50, 69, 84, 93 and 100 percent."""


@route("POST", "/api/panels")
def panels(ctx: Context, request: PanelsRequest) -> Panels:
    """All panels for the chosen runs, by section, in display order (see `panel_order.py`)."""
    goals: set[str] = set()
    found: dict[tuple[str, str], PanelInfo] = {}
    for run in dict.fromkeys(request.runs[:MAX_RUNS]):
        try:
            folder = ctx.runs.get(run)
        except NotFound:  # deleted since the page was opened
            continue
        rules = [rule for rule in folder.rules if rule.x is not None]
        goals.update(said_goals(folder.metrics(), folder.rules))
        kinds = [(key, "scalar") for key in folder.metrics()] + list(folder.media_keys().items())
        for key, kind in kinds:
            panel = found.get((key, kind))
            if panel is None:
                section = key.partition("/")[0] if "/" in key else ""
                panel = found[key, kind] = PanelInfo(key=key, kind=kind, section=section, runs=0)
            panel.runs += 1
            if panel.x is None and rules and (rule := rule_for(key, rules)) is not None:
                panel.x = rule.x
    shown = in_order(found.values(), goals, {panel.x for panel in found.values() if panel.x is not None})
    return Panels(panels=shown[:MAX_PANELS], omitted=max(0, len(shown) - MAX_PANELS))
