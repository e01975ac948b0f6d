"""A scatter plot as SVG: one point for each run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from stepscope.report.draw_axes import frame, safe, scale_for, style

_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 20, 52, 48


class DrawnPoint(NamedTuple):
    name: str
    hue: int
    x: float
    y: float


def draw_points(
    points: Sequence[DrawnPoint],
    title: str,
    *,
    x_words: str,
    y_words: str,
    log_x: bool = False,
    log_y: bool = False,
    width: int = 760,
    height: int = 340,
) -> str:
    """The plot as an SVG document; the name of each point is its tooltip."""
    across = scale_for([point.x for point in points], _LEFT, width - _RIGHT, log=log_x)
    up = scale_for([point.y for point in points], height - _BOTTOM, _TOP, log=log_y)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img"><title>{safe(title)}</title>',
        style([point.hue for point in points] or [0]),
        '<rect class="p" width="100%" height="100%"/>',
        f'<text class="t" x="{_LEFT}" y="26">{safe(title)}</text>',
        f'<text class="n" x="{_LEFT}" y="{_TOP - 8}">{safe(y_words)}</text>',
        *frame(across, up, x_words),
    ]
    for point in points:
        there = math.isfinite(point.x) and math.isfinite(point.y)
        if there and (point.x > 0 or not log_x) and (point.y > 0 or not log_y):
            x, y = across.place(point.x), up.place(point.y)
            named = f"<title>{safe(point.name)}</title>"
            parts.append(f'<circle class="f{point.hue}" cx="{x:.1f}" cy="{y:.1f}" r="4.5">{named}</circle>')
    return "\n".join([*parts, "</svg>\n"])
