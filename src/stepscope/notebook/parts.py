"""The building blocks of every display: HTML without scripts, style sheets or a surrounding page.

Notebooks are light or dark without telling which, and many strip `<style>` from outputs they did not run themselves.
So text uses the page's color, lines and marks have colors readable on both, and all style is inline.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

from stepscope.plain_text import clean
from stepscope.records import Severity, Status

# Each has a contrast of 3 and more against white and against a page of #1e1e1e.
COLOURS = ("#3d85e0", "#d9701a", "#17997a", "#d0408f", "#9a7bff", "#a38400")
STATUS: dict[Status, str] = {
    "running": "#3d85e0",
    "finished": "#17997a",
    "stopped": "#c07a00",
    "preempted": "#c07a00",
    "failed": "#e0444b",
    "killed": "#e0444b",
    "lost": "#b05fd0",
}
SEVERITY: dict[Severity, str] = {"error": "#e0444b", "warning": "#c07a00", "info": "#3d85e0"}
_FONT = "font:13px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif"
_BARS = "▁▂▃▄▅▆▇█"


def safe(text: object, most: int = 300) -> str:
    """A run's text inside HTML: escaped, without control characters, truncated.

    >>> safe("<img onerror=x>\\x1b[0m")
    '&lt;img onerror=x&gt;'
    """
    plain = clean(str(text))
    return escape(plain if len(plain) <= most else plain[: most - 1] + "…", quote=True)


def box(*parts: str) -> str:
    """The frame around a display."""
    style = f"{_FONT};color:inherit;border:1px solid #8885;border-radius:8px;padding:10px 12px;max-width:1080px"
    return f'<div style="{style};font-variant-numeric:tabular-nums">{"".join(parts)}</div>'


def soft(inner: str) -> str:
    """Secondary text; `inner` is HTML."""
    return f'<span style="opacity:.7">{inner}</span>'


def pill(text: str, colour: str) -> str:
    style = f"color:{colour};border:1px solid {colour};border-radius:9px;padding:0 8px;font-size:12px"
    return f'<span style="{style};white-space:nowrap">{safe(text)}</span>'


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[bool], head: bool = True) -> str:
    """Cells are HTML; `right` tells which columns are numeric. Inheritable style is set once, on the table."""
    sides = ["right" if one else "left" for one in right]

    def row(tag: str, cells: Sequence[str]) -> str:
        return "".join(
            f'<{tag} style="text-align:{side}">{cell}</{tag}>' for cell, side in zip(cells, sides, strict=True)
        )

    line = "background:transparent;border:0;border-bottom:1px solid #8883"
    body = "".join(f'<tr style="{line}">{row("td", cells)}</tr>' for cells in rows)
    style = "border-collapse:collapse;border:0;margin:6px 0;font-size:12.5px;color:inherit;white-space:nowrap"
    top = f'<thead><tr style="{line};opacity:.8">{row("th", heads)}</tr></thead>' if head else ""
    return f'<table cellpadding="3" style="{style}">{top}<tbody>{body}</tbody></table>'


def sparkline(values: Sequence[float | None], width: int = 24) -> str:
    """A line of blocks, for viewers without images; a cross marks non-finite values.

    >>> sparkline([4.0, 3.0, 2.0, 1.0, None], width=5)
    '█▆▃▁×'
    """
    picked = values if len(values) <= width else [values[at * (len(values) - 1) // (width - 1)] for at in range(width)]
    finite = [one for one in picked if one is not None and math.isfinite(one)]
    low = min(finite, default=0.0)
    half = (max(finite, default=0.0) / 2 - low / 2) or 1.0  # halves: the whole span may overflow
    return "".join(
        "×" if one is None or not math.isfinite(one) else _BARS[min(int((one / 2 - low / 2) / half * 8), 7)]
        for one in picked
    )
