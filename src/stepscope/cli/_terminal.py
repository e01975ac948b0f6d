"""Terminal helpers that all commands share: safe text, numbers, status colors, sparklines."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from stepscope.common import units
from stepscope.plain_text import clean
from stepscope.records import Severity, Status

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["SEVERITY_STYLE", "STATUS_STYLE", "clean", "console", "number", "sparkline"]

STATUS_STYLE: dict[Status, str] = {
    "running": "bold blue",
    "finished": "green",
    "stopped": "yellow",
    "preempted": "yellow",
    "failed": "bold red",
    "killed": "red",
    "lost": "magenta",
}

SEVERITY_STYLE: dict[Severity, str] = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}

_BARS = "▁▂▃▄▅▆▇█"


def console(*, stderr: bool = False) -> Console:
    """A rich console: color on a terminal, plain and unwrapped when piped."""
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not made.is_terminal:
        made.width = 240
    return made


def sparkline(values: list[float | None] | list[float], width: int = 16) -> str:
    """A line of block characters; a cross marks non-finite values.

    >>> sparkline([4.0, 3.0, 2.0, 1.0, None], width=5)
    '█▆▃▁×'
    """
    if not values:
        return ""
    picked = values if len(values) <= width else [values[i * (len(values) - 1) // (width - 1)] for i in range(width)]
    finite = [v for v in picked if v is not None and math.isfinite(v)]
    if not finite:
        return "×" * len(picked)
    low, span = min(finite), (max(finite) - min(finite)) or 1.0
    return "".join(
        "×" if v is None or not math.isfinite(v) else _BARS[min(int((v - low) / span * 8), 7)] for v in picked
    )


def number(value: object) -> str:
    """A value in its shortest readable form, safe to print."""
    return clean(units.number(value))
