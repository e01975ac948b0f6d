"""Bars, one for each run, as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence

from stepscope.report.draw_axes import number, safe, scale_for, style

_ROW, _TOP = 26, 44


def draw_bars(bars: Sequence[tuple[str, int, float | None]], title: str, width: int = 760) -> str:
    """Name, hue and value of each, from the top."""
    names = max((len(name[:32]) for name, _, _ in bars), default=0)
    left, right = 16 + names * 6.8 + 10, width - 80.0
    values = [value for _, _, value in bars if value is not None and math.isfinite(value)]
    across = scale_for([0.0, *values], left, right, pad=0.0)
    height = _TOP + _ROW * len(bars) + 12
    zero = across.place(0.0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img"><title>{safe(title)}</title>',
        style([hue for _, hue, _ in bars] or [0]),
        '<rect class="p" width="100%" height="100%"/>',
        f'<text class="t" x="16" y="26">{safe(title)}</text>',
    ]
    for at, (name, hue, value) in enumerate(bars):
        y = _TOP + at * _ROW
        parts.append(f'<text class="k e" x="{left - 10:.1f}" y="{y + 16}">{safe(name[:32])}</text>')
        there = value is not None and math.isfinite(value)
        end = across.place(value if value is not None and there else 0.0)
        parts.append(
            f'<rect class="f{hue}" x="{min(zero, end):.1f}" y="{y + 3}" width="{max(1.0, abs(end - zero)):.1f}" '
            f'height="{_ROW - 8}" rx="2"/>'
        )
        words = number(value) if value is not None and there else "none" if value is None else str(value)
        parts.append(f'<text class="n" x="{max(zero, end) + 6:.1f}" y="{y + 16}">{words}</text>')
    return "\n".join(
        [*parts, f'<line class="a" x1="{zero:.1f}" x2="{zero:.1f}" y1="{_TOP}" y2="{height - 10}"/></svg>\n']
    )
