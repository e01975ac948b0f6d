"""A line chart as SVG, for Markdown: the same lines, bands and colors as in the app, without interaction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from stepscope.report.draw_axes import Scale, frame, legend, safe, scale_for, style

_LEFT, _RIGHT, _BOTTOM = 64, 20, 48
_MARK_APART = 9.0
"""Marks closer than this would overlap."""

Numbers = Sequence[float | None]


@dataclass(frozen=True)
class DrawnLine:
    """One line. `low` and `high` draw a band around it; `faint` is the unsmoothed line."""

    name: str
    hue: int
    x: Sequence[float]
    value: Numbers
    low: Numbers | None = None
    high: Numbers | None = None
    faint: Numbers | None = None
    bad: Sequence[float] = ()
    """Where it was not finite."""


def draw_lines(
    lines: Sequence[DrawnLine],
    title: str,
    *,
    x_words: str = "step",
    log: bool = False,
    x_range: tuple[float | None, float | None] = (None, None),
    y_range: tuple[float | None, float | None] = (None, None),
    width: int = 760,
    height: int = 340,
) -> str:
    """The chart as an SVG document."""
    left, right = float(_LEFT), float(width - _RIGHT)
    names = [(line.name, f"h{line.hue}") for line in lines]
    keys, taken = legend(names, left, 52, right - left)
    top = 44 + taken
    bottom = top + height - 44 - _BOTTOM
    across = _ranged(_from_zero(scale_for([at for line in lines for at in line.x], left, right, pad=0.0)), x_range)
    shown = [_inside(line, across) for line in lines]
    up = _ranged(scale_for([value for values in shown for value in values], bottom, top, log=log), y_range)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + _BOTTOM:.0f}" width="{width}" '
        f'height="{bottom + _BOTTOM:.0f}" role="img"><title>{safe(title)}</title>',
        style([line.hue for line in lines] or [0]),
        '<rect class="p" width="100%" height="100%"/>',
        f'<text class="t" x="{left:.0f}" y="26">{safe(title)}</text>',
        *keys,
        *frame(across, up, x_words, seconds=x_words == "time since the start"),
        f'<clipPath id="c"><rect x="{left:.1f}" y="{top - 4:.1f}" width="{right - left:.1f}" '
        f'height="{bottom - top + 8:.1f}"/></clipPath><g clip-path="url(#c)">',
    ]
    for line in lines:
        parts += _drawn(line, across, up)
    return "\n".join([*parts, "</g></svg>\n"])


def _from_zero(scale: Scale) -> Scale:
    """A bucket's position is its middle: a chart that begins slightly after zero begins at zero."""
    near = 0 < scale.low < 0.02 * (scale.high - scale.low)
    return Scale(0.0, scale.high, scale.start, scale.end, scale.log) if near else scale


def _ranged(scale: Scale, given: tuple[float | None, float | None]) -> Scale:
    low = scale.low if given[0] is None or (scale.log and given[0] <= 0) else given[0]
    high = scale.high if given[1] is None else given[1]
    return Scale(low, high, scale.start, scale.end, scale.log) if low < high else scale


def _inside(line: DrawnLine, across: Scale) -> list[float]:
    """The values the y axis must show: those of the visible part."""
    found = []
    for values in (line.value, line.low, line.high):
        for at, value in zip(line.x, values or (), strict=False):
            if value is not None and across.low <= at <= across.high:
                found.append(value)
    return found


def _drawn(line: DrawnLine, across: Scale, up: Scale) -> list[str]:
    parts = []
    if line.low is not None and line.high is not None:
        for start, end in _stretches(line.low, up.log):
            forth = [_point(line.x[at], line.high[at], across, up) for at in range(start, end)]
            back = [_point(line.x[at], line.low[at], across, up) for at in range(end - 1, start - 1, -1)]
            parts.append(f'<path class="b f{line.hue}" d="M{"L".join(forth + back)}Z"/>')
    if line.faint is not None:
        parts += [
            path.replace('class="l', 'style="opacity:.3;stroke-width:1" class="l')
            for path in _paths(line, line.faint, across, up)
        ]
    parts += _paths(line, line.value, across, up)
    last = -math.inf
    for at in line.bad:
        x, y = across.place(at), up.end + 5
        if x - last < _MARK_APART:
            continue
        last = x
        parts.append(
            f'<path class="x h{line.hue}" d="M{x - 3:.1f} {y - 3:.1f}l6 6m0 -6l-6 6"><title>not finite</title></path>'
        )
    return parts


def _paths(line: DrawnLine, values: Numbers, across: Scale, up: Scale) -> list[str]:
    parts = []
    for start, end in _stretches(values, up.log):
        points = [_point(line.x[at], values[at], across, up) for at in range(start, end)]
        if len(points) == 1:
            x, y = points[0].split(" ")
            parts.append(f'<circle class="f{line.hue}" cx="{x}" cy="{y}" r="3"/>')
        else:
            parts.append(f'<path class="l h{line.hue}" d="M{"L".join(points)}"/>')
    return parts


def _stretches(values: Numbers, log: bool) -> list[tuple[int, int]]:
    """The ranges where the line has no gap: start, and the position after its end."""
    found, start = [], None
    for at, value in enumerate([*values, None]):
        there = value is not None and math.isfinite(value) and (value > 0 or not log)
        if there and start is None:
            start = at
        elif not there and start is not None:
            found.append((start, at))
            start = None
    return found


def _point(x: float, y: float | None, across: Scale, up: Scale) -> str:
    return f"{across.place(x):.1f} {up.place(y if y is not None else up.low):.1f}"
