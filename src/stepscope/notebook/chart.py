"""A small chart: a few lines with their extremes, non-finite points, and the ends of both axes."""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass

from stepscope.common.units import number
from stepscope.notebook.parts import COLOURS, safe, sparkline

WIDTH, HEIGHT = 220, 118
"""Four fit side by side under a JupyterLab cell on a typical screen."""
WIDE = 520
"""One alone."""
_LEFT, _TOP, _BOTTOM = 6.0, 34.0, 100.0
_DRAWN = 66.0
"""The height of the lines alone."""
_SMALL = 'font-size="10" fill="currentColor" fill-opacity=".7"'


@dataclass(frozen=True)
class ChartLine:
    """One series, downsampled: the mean and extremes of each interval, and where it was not finite."""

    name: str
    x: Sequence[float]
    value: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    bad: Sequence[float] = ()
    last: float | None = None
    ends: tuple[float, float] | None = None
    """The first and last step; an interval's own position is its middle."""


def chart_html(title: str, lines: Sequence[ChartLine], width: int = WIDTH) -> str:
    """The chart as an HTML block: page text around an image.

    An untrusted notebook drops every `<svg>` but keeps images, so the lines are an image; an image cannot use the
    page's colors, so the text is outside it.
    """
    scale = _Scale(lines, width, 4.0, _DRAWN, edge=1.0)
    axis = f'<path d="M0 {_DRAWN + 4}H{width}" stroke="#888" stroke-opacity=".6" fill="none"/>'
    drawn = "".join(_drawn(line, _colour(at), scale) for at, line in enumerate(lines))
    keys = _keys(lines, "span", "style", "color:")
    words = "; ".join(f"{line.name} {sparkline(line.value)}".strip() for line in lines)
    ends = f'<span style="float:right">{scale.last_step}</span>{scale.range}&nbsp;'
    return (
        f'<div style="display:inline-block;vertical-align:top;width:{width}px;max-width:100%;margin-right:18px">'
        f'<div style="font-size:12px;font-weight:600;overflow:hidden;white-space:nowrap">{safe(title, 34)}</div>'
        f'<div style="font-size:11.5px;overflow:hidden;white-space:nowrap">{keys}</div>'
        f"{_picture(axis + drawn, width, int(_DRAWN) + 6, words)}"
        f'<div style="font-size:10px;opacity:.7;line-height:1.2">{ends}</div></div>'
    )


def spark_html(values: Sequence[float | None], width: int = 110, height: int = 20) -> str:
    """A line alone, for a cell of a table."""
    known = [float("nan") if one is None else one for one in values]
    if not any(math.isfinite(one) for one in known):
        return ""
    line = ChartLine("", list(range(len(known))), known, known, known)
    scale = _Scale([line], width, 3, height - 3, edge=2)
    return _picture(_drawn(line, COLOURS[0], scale), width, height, sparkline(values))


def _picture(inner: str, width: int, height: int, words: str) -> str:
    """A drawing as an image, with equivalent alt text."""
    drawn = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        f"{inner}</svg>"
    )
    return image(drawn, words, f'width="{width}" height="{height}" ')


def image(drawn: str, words: str, size: str = "") -> str:
    """An SVG as a self-contained `<img>`."""
    data = b64encode(drawn.encode("utf-8", "replace")).decode()
    style = "max-width:100%;vertical-align:middle;display:inline-block;margin:0"
    return f'<img src="data:image/svg+xml;base64,{data}" {size}alt="{safe(words, 120)}" style="{style}">'


def chart_group(title: str, lines: Sequence[ChartLine], x: float = 0, y: float = 0) -> str:
    """The chart, including its text, inside a drawing."""
    scale = _Scale(lines, WIDTH, _TOP, _BOTTOM)
    right = WIDTH - _LEFT
    parts = [
        f'<g transform="translate({x:g} {y:g})" font-family="system-ui,sans-serif">',
        f'<text x="{_LEFT}" y="13" font-size="12" font-weight="600" fill="currentColor">{safe(title, 34)}</text>',
        f'<text x="{_LEFT}" y="28" font-size="11.5">{_keys(lines, "tspan", "fill", "")}</text>',
        f'<path d="M{_LEFT} {_BOTTOM}H{right}" stroke="currentColor" stroke-opacity=".3" fill="none"/>',
    ]
    parts += [_drawn(line, _colour(at), scale) for at, line in enumerate(lines)]
    parts.append(f'<text x="{_LEFT}" y="{HEIGHT - 5}" {_SMALL}>{scale.range}</text>')
    parts.append(f'<text x="{right}" y="{HEIGHT - 5}" text-anchor="end" {_SMALL}>{scale.last_step}</text>')
    return "".join(parts) + "</g>"


def _extremes(lines: Sequence[ChartLine]) -> tuple[list[float], list[float]]:
    """The values and the steps that the axes must hold."""
    values: list[float] = []
    places: list[float] = []
    for line in lines:
        values += [one for one in (*line.low, *line.high) if math.isfinite(one)]
        places += line.ends or (*line.x, *line.bad)
    return values, places


class _Scale:
    """From steps and values to positions, between `top` and `bottom`; a log scale if the values span decades."""

    def __init__(self, lines: Sequence[ChartLine], width: float, top: float, bottom: float, edge: float = 6.0) -> None:
        values, places = _extremes(lines)
        log = bool(values) and min(values) > 0 and max(values) > 300 * min(values)
        low, high = (min(values), max(values)) if values else (0.0, 1.0)
        self.across = _Way(min(places, default=0.0), max(places, default=1.0), edge, width - edge)
        self.up = _Way(low, high, bottom - 3, top + 3, log)
        self.bottom = bottom
        self.last_step = f"step {self.across.high:,.0f}" if places else ""
        self.range = ""
        if values:
            self.range = number(low) if low == high else f"{number(low)} to {number(high)}"
        if log:
            self.range += ", log"


class _Way:
    """From a value to a position; a log scale if the values span decades."""

    def __init__(self, low: float, high: float, start: float, end: float, log: bool = False) -> None:
        self.low, self.high, self._start, self._end, self._log = low, high, start, end, log
        self._from, self._to = (math.log(low), math.log(high)) if log else (low, high)

    def __call__(self, value: float) -> float:
        at = math.log(max(value, self.low)) if self._log else value
        half, span = self._to / 2 - self._from / 2, at / 2 - self._from / 2  # halves: the span itself may overflow
        share = 0.5 if half == 0 else min(1.0, max(0.0, span / half))
        return self._start + share * (self._end - self._start)


def _colour(at: int) -> str:
    return COLOURS[at % len(COLOURS)]


def _keys(lines: Sequence[ChartLine], tag: str, attribute: str, before: str) -> str:
    """The newest value of each line, in its color; with names if there are several."""
    keys = []
    for at, line in enumerate(lines):
        named = f"{safe(line.name, 14)} " if len(lines) > 1 else ""
        keys.append(f'<{tag} {attribute}="{before}{_colour(at)}">{named}{number(line.last)}</{tag}>')
    return "  ".join(keys)


def _drawn(line: ChartLine, colour: str, scale: _Scale) -> str:
    across, up, parts = scale.across, scale.up, []
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
    return "".join(parts) + _bad(line, scale)


def _bad(line: ChartLine, scale: _Scale) -> str:
    """A cross where values stop being finite, and a bar while they are not."""
    across, bottom, odd, parts = scale.across, scale.bottom, set(line.bad), []
    begun: float | None = None
    for at, place in enumerate(line.x):
        if place not in odd:
            begun = None
        elif begun is None:
            begun = across(place)
            parts.append(f"M{begun - 3:.1f} {bottom - 6}l6 6m0 -6l-6 6")
        else:
            parts.append(f"M{across(line.x[at - 1]):.1f} {bottom}H{across(place):.1f}")
    return f'<path d="{"".join(parts)}" stroke="#e0444b" stroke-width="1.6" fill="none"/>' if parts else ""


def _stretches(line: ChartLine) -> list[list[int]]:
    """The line is interrupted where nothing is finite."""
    found: list[list[int]] = [[]]
    for at, value in enumerate(line.value):
        if math.isfinite(value):
            found[-1].append(at)
        elif found[-1]:
            found.append([])
    return [one for one in found if one]


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
