"""Numbers, times and sizes in words: one way to write each, and one way to parse a size.

`duration` is for elapsed time, as the app writes it; `time_text` for measurements, with three digits.
Sizes are written in powers of 1024; "500MB" is read as 500,000,000 bytes and "500MiB" as 524,288,000.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from stepscope.errors import UsageError

_LONG = ((86400, "d", 3600, "h"), (3600, "h", 60, "m"), (60, "m", 1, "s"))
_BYTES = ((1 << 50, "PiB"), (1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_SIZE = re.compile(r"\s*(\d+\.?\d*|\.\d+)\s*([kmgt]?)(i?)b?\s*", re.I)


def duration(seconds: float) -> str:
    """Elapsed time, in at most two units.

    >>> [duration(one) for one in (0.04, 0.85, 8.5, 42, 75, 600, 4000, 200_000)]
    ['40ms', '0.8s', '8.5s', '42s', '1m 15s', '10m', '1h 6m', '2d 7h']
    """
    if seconds < 0.0995:
        return f"{max(0.0, seconds) * 1000:.0f}ms"
    if seconds < 9.95:
        return f"{seconds:.1f}".removesuffix(".0") + "s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    size, big, small, unit = next(one for one in _LONG if whole >= one[0])
    rest = whole % size // small
    return f"{whole // size}{big}" + (f" {rest}{unit}" if rest else "")


def ago(seconds: float) -> str:
    """How long ago, in one unit.

    >>> [ago(one) for one in (3, 200, 7000, 90000, 2600000)]
    ['3s ago', '3m ago', '1h ago', '1d ago', '30d ago']
    """
    size, unit = next(((size, unit) for size, unit, _, _ in _LONG if seconds >= size), (1, "s"))
    return f"{max(int(seconds), 0) // size}{unit} ago"


def time_text(seconds: float | None) -> str:
    """A measured time, with three digits; None is a dash.

    >>> [time_text(one) for one in (None, 0, 4e-7, 1.23e-5, 0.0456, 2.5, 75)]
    ['-', '0', '400 ns', '12.3 us', '45.6 ms', '2.5 s', '1m 15s']
    """
    if seconds is None:
        return "-"
    size = abs(seconds)
    if size == 0:
        return "0"
    if size >= 59.95:
        return ("-" if seconds < 0 else "") + duration(size)
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if size >= scale * 0.9995:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def micros_text(us: float | None) -> str:
    """A measured time given in microseconds.

    >>> micros_text(4567.0), micros_text(None)
    ('4.57 ms', '-')
    """
    return time_text(None if us is None else us / 1e6)


def bytes_text(count: float | None, digits: int = 4) -> str:
    """A size; None is a dash.

    >>> [bytes_text(one) for one in (None, 0, 999, 4096, 157_286_400, -2_500_000_000)]
    ['-', '0', '999 B', '4 KiB', '150 MiB', '-2.328 GiB']
    """
    if count is None:
        return "-"
    if count == 0:
        return "0"
    size = abs(count)
    for scale, unit in _BYTES:
        if size >= scale * 0.9995:
            digits = max(digits, len(str(int(size / scale))))
            return f"{count / scale:.{digits}g} {unit}"
    return f"{count:.0f} B"


def parse_bytes(value: object, name: str) -> int:
    """Bytes from a number, `"500MB"` or `"2GiB"`; `name` is used in the error.

    >>> parse_bytes("2GB", "max_memory"), parse_bytes("1.5 KiB", "max_memory"), parse_bytes(100, "max_memory")
    (2000000000, 1536, 100)
    """
    found = None if isinstance(value, bool) else _SIZE.fullmatch(str(value))
    if found is None:
        raise UsageError(f"{name} is {value!r}; expected a size, such as '500MB' or '2GiB'")
    amount, unit, binary = found.groups()
    return int(float(amount) * (1024 if binary else 1000) ** (("kmgt".find(unit.lower()) + 1) if unit else 0))


def number(value: object, digits: int = 4) -> str:
    """A value in its shortest readable form; None is a dash.

    >>> [number(one) for one in (0.001, 1234567.0, 3, 0.123456, float("nan"), -float("inf"), True, "adam", None)]
    ['0.001', '1.235e+06', '3', '0.1235', 'NaN', '-Inf', 'true', 'adam', '-']
    """
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**9 else f"{value:.{digits}g}"
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Inf" if value > 0 else "-Inf"
        return f"{value:.{digits}g}"
    return str(value)


def percent(part: float, whole: float = 1.0, digits: int = 0) -> str:
    """
    >>> percent(1, 3), percent(0.256, digits=1), percent(1, 0)
    ('33%', '25.6%', '0%')
    """
    return f"{part / whole:.{digits}%}" if whole else "0%"


def counted(amount: int, noun: str, many: str = "") -> str:
    """
    >>> counted(1, "step"), counted(1200, "step"), counted(0, "batch", "batches")
    ('1 step', '1,200 steps', '0 batches')
    """
    return f"{amount:,} {noun if amount == 1 else many or noun + 's'}"


def listed(names: Iterable[str], most: int = 8) -> str:
    """
    >>> listed(["a", "b", "c"]), listed("abcd", most=2)
    ('a, b, c', 'a, b and 2 more')
    """
    found = list(names)
    shown = ", ".join(found[:most])
    return shown + (f" and {len(found) - most} more" if len(found) > most else "")
