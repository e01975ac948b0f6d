"""What every command shares about the terminal: safe text, numbers, ages, status colours, sparklines."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from stepscope.plain_text import clean
from stepscope.records import Severity, Status

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["SEVERITY_STYLE", "STATUS_STYLE", "age", "clean", "console", "duration", "number", "sparkline"]

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
    """A rich console: colour on a terminal, plain and unwrapped when piped."""
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not made.is_terminal:
        made.width = 240
    return made


def number(value: object) -> str:
    """A value as short as it can be read: four significant digits, no needless zeros.

    >>> [number(v) for v in (0.001, 1234567.0, 3, 0.123456, float("nan"), True, "adam", None)]
    ['0.001', '1.235e+06', '3', '0.1235', 'NaN', 'true', 'adam', '-']
    """
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**9 else f"{value:.4g}"
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Inf" if value > 0 else "-Inf"
        return f"{value:.4g}"
    return clean(str(value))


def duration(seconds: float) -> str:
    """How long something took.

    >>> [duration(s) for s in (0.04, 8.5, 75, 4000, 200000)]
    ['40ms', '8.5s', '1m 15s', '1h 6m', '2d 7h']
    """
    if seconds < 1:
        return f"{max(seconds, 0) * 1000:.0f}ms"
    if seconds < 10:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60}s"
    if whole < 86400:
        return f"{whole // 3600}h {whole % 3600 // 60}m"
    return f"{whole // 86400}d {whole % 86400 // 3600}h"


def age(seconds: float) -> str:
    """How long ago something was, in one unit.

    >>> [age(s) for s in (3, 200, 7000, 90000, 2600000)]
    ['3s ago', '3m ago', '1h ago', '1d ago', '30d ago']
    """
    if seconds < 60:
        return f"{max(int(seconds), 0)}s ago"
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= size:
            return f"{int(seconds // size)}{unit} ago"
    return "now"


def sparkline(values: list[float | None] | list[float], width: int = 16) -> str:
    """A line of block characters; a cross marks what is not finite.

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
