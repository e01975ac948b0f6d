"""Histograms over time as ridges, as SVG: one curve per step, the newest in front."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from stepscope.report.draw_axes import frame, number, safe, scale_for, style

_TOP, _ROW, _RISE = 56, 14, 44


def draw_ridges(
    steps: Sequence[int],
    edges: Sequence[float],
    counts: Sequence[Sequence[float]],
    title: str,
    hue: int = 0,
    width: int = 760,
) -> str:
    """The counts of each step between the common edges; at most thirty steps are drawn."""
    every = max(1, -(-len(steps) // 30))
    rows = list(zip(steps, counts, strict=True))[::-1][::every][::-1]
    left, right = 24.0, width - 64.0
    bottom = _TOP + _RISE + _ROW * max(0, len(rows) - 1)
    across = scale_for(list(edges) or [0.0, 1.0], left, right, pad=0.0)
    most = max((max(row, default=0.0) for _, row in rows), default=1.0) or 1.0
    height = bottom + 48
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img"><title>{safe(title)}</title>',
        style([hue]),
        '<rect class="p" width="100%" height="100%"/>',
        f'<text class="t" x="{left:.0f}" y="26">{safe(title)}</text>',
        *frame(across, scale_for([0.0, 1.0], bottom, _TOP), "value", numbers=False),
    ]
    middles = [(low + high) / 2 for low, high in pairwise(edges)]
    for at, (step, row) in enumerate(rows):
        base = _TOP + _RISE + at * _ROW
        points = [
            f"{across.place(x):.1f} {base - count / most * _RISE:.1f}" for x, count in zip(middles, row, strict=False)
        ]
        if points:
            shape = f"M{left:.1f} {base:.1f}L{'L'.join(points)}L{right:.1f} {base:.1f}"
            parts.append(f'<path class="p" d="{shape}Z"/><path class="f{hue} b" d="{shape}Z"/>')
            parts.append(f'<path class="l h{hue}" style="stroke-width:1.2" d="M{"L".join(points)}"/>')
        if at in (0, len(rows) - 1) or at % 5 == 0:
            parts.append(f'<text class="n" x="{right + 8:.1f}" y="{base + 4:.1f}">{number(float(step))}</text>')
    return "\n".join([*parts, "</svg>\n"])
