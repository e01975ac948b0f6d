"""One key's histograms over time, on common edges: the data of `POST /api/histograms`."""

from __future__ import annotations

import math

import numpy as np

from stepscope.errors import BadData, NotFound, UsageError
from stepscope.records import Media
from stepscope.runs.points.histograms import Histogram, decode_histogram, ridge
from stepscope.runs.read.folder import RunFolder
from stepscope.views.charts import Histograms, HistogramsRequest
from stepscope.views.context import Context
from stepscope.views.route import route

__all__ = ["finite_number", "histograms"]

MAX_ROWS = 1000
MAX_BINS = 1000


@route("POST", "/api/histograms")
def histograms(ctx: Context, request: HistogramsRequest) -> Histograms:
    """One key's histograms over time."""
    if not (1 <= request.rows <= MAX_ROWS and 1 <= request.bins <= MAX_BINS):
        raise UsageError(
            f"rows must be 1 to {MAX_ROWS} and bins 1 to {MAX_BINS}, not {request.rows} and {request.bins}"
        )
    folder = ctx.runs.get(request.run)
    found = folder.media(request.key, kind="histogram")
    if not found:
        raise NotFound(
            f"run {folder.name!r} has no histograms under {request.key!r}; log some with stepscope.Histogram"
        )
    chosen = _spread(found, request.rows)
    sound = [(one, shape) for one in chosen if (shape := _shape(folder, one)) is not None]
    drawn = ridge([shape for _, shape in sound], request.bins, request.tails)
    return Histograms(
        steps=[one.step for one, _ in sound],
        times=[one.time for one, _ in sound],
        edges=drawn.edges.tolist(),
        counts=drawn.counts.tolist(),
        percentiles=drawn.percentiles.tolist(),
    )


def _spread(found: list[Media], rows: int) -> list[Media]:
    """At most `rows` of them, evenly spaced, including the first and last."""
    if len(found) <= rows:
        return found
    return [found[at] for at in np.linspace(0, len(found) - 1, rows).round().astype(int).tolist()]


def _shape(folder: RunFolder, one: Media) -> Histogram | None:
    try:
        shape = decode_histogram(folder.media_bytes(one))
    except (BadData, NotFound):  # damaged or dropped: draw the others
        return None
    low, high = finite_number(one, "min"), finite_number(one, "max")
    if low is None or high is None or low > high:
        return shape
    # The bins of a constant tensor reach beyond its one value.
    return Histogram(np.clip(shape.edges, low, high), shape.counts)


def finite_number(one: Media, name: str) -> float | None:
    """A number from a medium's meta, which may contain anything."""
    value = one.meta.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)
