"""A small chart as SVG: a few lines with their extremes, where they were not finite, and the ends of both axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from stepscope.notebook.parts import COLOURS, number, safe

__all__ = ["ChartLine", "chart_group", "chart_svg", "spark_svg"]

WIDTH, HEIGHT = 228, 118
"""Four stand beside each other under a cell of JupyterLab on a usual screen."""
WIDE = 520
"""One alone."""
_LEFT, _TOP, _BOTTOM = 6.0, 34.0, 100.0
_SMALL = 'font-size="10" fill="currentColor" fill-opacity=".7"'


@dataclass(frozen=True)
class ChartLine:
    """One series, thinned: the mean and extremes of each stretch, and where it was not finite."""

    name: str
    x: Sequence[float]
    value: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    bad: Sequence[float] = ()
    last: float | None = None
    ends: tuple[float, float] | None = None
    """The first and last step; a stretch's own place is its middle."""


def chart_svg(title: str, lines: Sequence[ChartLine], width: int = WIDTH) -> str:
    """The chart as an `<svg>` of its own size; its text has the colour of the page."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT}" viewBox="0 0 {width} {HEIGHT}" '
        f'role="img" style="max-width:100%">{chart_group(title, lines, width=width)}</svg>'
    )


def spark_svg(values: Sequence[float | None], width: int = 110, height: int = 20) -> str:
    """A line alone, for a cell of a table."""
    known = [float("nan") if one is None else one for one in values]
    finite = [one for one in known if math.isfinite(one)]
    if not finite:
        return ""
    line = ChartLine("", list(range(len(known))), known, known, known)
    across, up = _Way(0, max(1, len(known) - 1), 2, width - 2), _Way(min(finite), max(finite), height - 3, 3)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'style="vertical-align:middle">{_drawn(line, COLOURS[0], across, up)}</svg>'
    )


def chart_group(title: str, lines: Sequence[ChartLine], x: float = 0, y: float = 0, width: int = WIDTH) -> str:
    """The same inside another drawing."""
    right = width - _LEFT
    values = [one for line in lines for side in (line.low, line.high) for one in side if math.isfinite(one)]
    places = [one for line in lines for one in (line.ends or (*line.x, *line.bad))]
    log = bool(values) and min(values) > 0 and max(values) > 300 * min(values)
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    across = _Way(min(places, default=0.0), max(places, default=1.0), _LEFT, right)
    up = _Way(low, high, _BOTTOM - 3, _TOP + 3, log)
    parts = [f'<g transform="translate({x:g} {y:g})" font-family="system-ui,sans-serif">', _head(title, lines)]
    parts.append(f'<path d="M{_LEFT} {_BOTTOM}H{right}" stroke="currentColor" stroke-opacity=".3" fill="none"/>')
    for at, line in enumerate(lines):
        parts.append(_drawn(line, COLOURS[at % len(COLOURS)], across, up))
    if values:
        words = number(low) if low == high else f"{number(low)} to {number(high)}" + (", log" if log else "")
        parts.append(f'<text x="{_LEFT}" y="{HEIGHT - 5}" {_SMALL}>{words}</text>')
    if places:
        last = f"step {across.high:,.0f}"
        parts.append(f'<text x="{right}" y="{HEIGHT - 5}" text-anchor="end" {_SMALL}>{last}</text>')
    return "".join(parts) + "</g>"


class _Way:
    """From a value to a place; a log scale where the values span decades."""

    def __init__(self, low: float, high: float, start: float, end: float, log: bool = False) -> None:
        self.low, self.high, self._start, self._end, self._log = low, high, start, end, log
        self._from, self._to = (math.log(low), math.log(high)) if log else (low, high)

    def __call__(self, value: float) -> float:
        at = math.log(max(value, self.low)) if self._log else value
        half, span = self._to / 2 - self._from / 2, at / 2 - self._from / 2  # halves: the span itself may overflow
        share = 0.5 if half == 0 else min(1.0, max(0.0, span / half))
        return self._start + share * (self._end - self._start)


def _head(title: str, lines: Sequence[ChartLine]) -> str:
    words = f'<text x="{_LEFT}" y="13" font-size="12" font-weight="600" fill="currentColor">{safe(title, 34)}</text>'
    keys = []
    for at, line in enumerate(lines):
        named = f"{safe(line.name, 14)} " if len(lines) > 1 else ""
        shown = f"{named}{number(line.last)}"
        keys.append(f'<tspan fill="{COLOURS[at % len(COLOURS)]}">{shown}</tspan>')
    return words + f'<text x="{_LEFT}" y="28" font-size="11.5">{"  ".join(keys)}</text>'


def _drawn(line: ChartLine, colour: str, across: _Way, up: _Way) -> str:
    parts = []
    for stretch in _stretches(line):
        points = [(across(line.x[at]), up(line.value[at])) for at in stretch]
        if any(line.low[at] != line.high[at] for at in stretch):
            above = [(across(line.x[at]), up(line.high[at])) for at in stretch]
            below = [(across(line.x[at]), up(line.low[at])) for at in reversed(stretch)]
            parts.append(f'<path d="M{_path(above + below)}Z" fill="{colour}" fill-opacity=".2"/>')
        if len(points) == 1:
            parts.append(f'<circle cx="{points[0][0]:.1f}" cy="{points[0][1]:.1f}" r="2" fill="{colour}"/>')
        else:
            parts.append(f'<path d="M{_path(points)}" stroke="{colour}" stroke-width="1.5" fill="none"/>')
    return "".join(parts) + _bad(line, across)


def _bad(line: ChartLine, across: _Way) -> str:
    """A cross where values stop being finite, and a bar for as long as they are not."""
    odd, parts = set(line.bad), []
    begun: float | None = None
    for at, place in enumerate(line.x):
        if place not in odd:
            begun = None
        elif begun is None:
            begun = across(place)
            parts.append(f"M{begun - 3:.1f} {_BOTTOM - 6}l6 6m0 -6l-6 6")
        else:
            parts.append(f"M{across(line.x[at - 1]):.1f} {_BOTTOM}H{across(place):.1f}")
    return f'<path d="{"".join(parts)}" stroke="#e0444b" stroke-width="1.6" fill="none"/>' if parts else ""


def _stretches(line: ChartLine) -> list[list[int]]:
    """The line is broken where nothing is finite."""
    found: list[list[int]] = [[]]
    for at, value in enumerate(line.value):
        if math.isfinite(value):
            found[-1].append(at)
        elif found[-1]:
            found.append([])
    return [one for one in found if one]


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
