"""The numbers of a metric over time."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from stepscope.agents.tool import Answer, RunRef, tool
from stepscope.agents.tool_context import Desk
from stepscope.agents.words import name, table
from stepscope.common.units import number
from stepscope.errors import NotFound, UsageError
from stepscope.runs.points.series import Series
from stepscope.runs.read.folder import RunFolder
from stepscope.views.charts import Line, SeriesRequest
from stepscope.views.series import draw

MOST_KEYS = 8
Keys = Annotated[list[str], Field(description="Names of metrics, as get_run lists them; at most 8.")]
Points = Annotated[int, Field(ge=2, le=500, description="Maximum points per metric.")]
Step = Annotated[int | None, Field(description="Only from, or up to, this step.")]


@tool("Values of metrics")
def get_series(
    desk: Desk, keys: Keys, run: RunRef = "last", points: Points = 40, first_step: Step = None, last_step: Step = None
) -> Answer:
    """A metric step by step, downsampled without losing spikes: every row has the mean, minimum and maximum of its
    steps.

    NaN and infinities are reported separately with the first step of each. Ask again with first_step and last_step to
    zoom in.
    """
    folder = desk.open(run)
    if not 1 <= len(keys) <= MOST_KEYS:
        raise UsageError(f"{len(keys)} keys; expected 1 to {MOST_KEYS}: call the tool again for others")
    version = desk.catalogue.entry(folder.id).version
    lines, data = [f"Run {name(folder.name)} ({folder.id}), {folder.status}."], []
    for key in dict.fromkeys(keys):
        found = _series(folder, key)
        request = SeriesRequest(runs=[folder.id], keys=[key], lo=first_step, hi=last_step, buckets=points)
        line = draw(found, None, version, request)
        lines.append(_text(folder, key, found, line))
        data.append(_data(folder, key, line))
    return Answer("\n\n".join(lines), {"run": folder.id, "series": data})


def _series(folder: RunFolder, key: str) -> Series:
    names = folder.metrics()
    if key not in names:
        near = get_close_matches(key, names, n=5, cutoff=0.3) or [one for one in names if not one.startswith("system/")]
        raise NotFound(f"the run has no metric {key[:200]!r}; it has {', '.join(near[:12])} (get_run lists them)")
    return folder.series(key)


def not_finite(found: Series) -> str:
    """When a series stopped being finite, in words; empty if it never did.

    `finite up to step 24 (0.1319); NaN first at step 25; 15 of 40 values are not finite`
    """
    values, steps = found.values, found.steps
    odd = ~np.isfinite(values)
    if not odd.any():
        return ""
    first = int(odd.argmax())
    words = []
    if first:
        words.append(f"finite up to step {int(steps[first - 1])} ({number(float(values[first - 1]))})")
    words.append(f"{number(float(values[first]))} first at step {int(steps[first])}")
    words.append(f"{int(odd.sum())} of {len(values)} values are not finite")
    return "; ".join(words)


def _text(folder: RunFolder, key: str, found: Series, line: Line) -> str:
    one = folder.metric_summary(key)
    head = f"{name(key)}: {one.count} points, last {number(one.last)} at step {one.last_step}"
    if one.finite:
        head += f", min {number(one.min)} at step {one.min_step}, max {number(one.max)} at step {one.max_step}"
    odd = not_finite(found)
    plain = all(low == high for low, high in zip(line.low, line.high, strict=True))
    heads = ["step", "value"] if plain else ["step", "mean", "least", "greatest"]
    return "\n".join(filter(None, (head, odd, table(heads, _rows(line, plain)))))


def _rows(line: Line, plain: bool) -> list[list[str]]:
    """A row for each interval: its step and value, or its mean and extremes where these differ."""
    marks = dict.fromkeys(line.nan, "NaN")
    marks |= {at if at >= 0 else -at - 1: "Infinity" for at in line.inf}
    rows = []
    for at, x in enumerate(line.x):
        cells = [line.value[at]] if plain else [line.value[at], line.low[at], line.high[at]]
        shown = [marks.get(at, "-") if v is None or v != v else number(v) for v in cells]
        mark = f" (holds {marks[at]})" if at in marks and not plain else ""
        rows.append([f"{x:.10g}", *shown[:-1], shown[-1] + mark])
    return rows


def _data(folder: RunFolder, key: str, line: Line) -> dict[str, Any]:
    one = folder.metric_summary(key)
    return {
        "key": key,
        "points": line.points,
        "step": line.x,
        "mean": line.value,
        "least": line.low,
        "greatest": line.high,
        "nan_at": line.nan_x,
        "infinite_at": line.inf_x,
        "last": one.last,
        "min": one.min if one.finite else None,
        "min_step": one.min_step,
        "max": one.max if one.finite else None,
        "max_step": one.max_step,
    }
