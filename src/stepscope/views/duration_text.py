"""How long something took, in the words of the tables in the browser."""

from __future__ import annotations

__all__ = ["duration_text"]


def duration_text(seconds: float) -> str:
    """Two units at most, as `formatDuration` of the app has it.

    >>> [duration_text(s) for s in (0.04, 8.5, 42, 600, 4000, 200_000)]
    ['40ms', '8.5s', '42s', '10m', '1h 6m', '2d 7h']
    """
    if seconds < 0.0995:
        return f"{max(0.0, seconds) * 1000:.0f}ms"
    if seconds < 9.95:
        return f"{seconds:.1f}".removesuffix(".0") + "s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    size, big, small, unit = next(one for one in _UNITS if whole >= one[0])
    rest = whole % size // small
    return f"{whole // size}{big}" + (f" {rest}{unit}" if rest else "")


_UNITS = ((86400, "d", 3600, "h"), (3600, "h", 60, "m"), (60, "m", 1, "s"))
