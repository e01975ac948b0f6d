"""Amounts of memory, read and written."""

from __future__ import annotations

import re

from stepscope.errors import UsageError

__all__ = ["bytes_text", "size_of"]

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def size_of(value: object, name: str) -> int:
    """Bytes from a number, `"500MB"` or `"2GiB"`.

    >>> size_of("2GB", "max_memory"), size_of("1.5 KiB", "max_memory"), size_of(100, "max_memory")
    (2000000000, 1536, 100)
    """
    found = re.fullmatch(r"\s*([\d.]+)\s*([kmgt]?)(i?)b?\s*", str(value).lower())
    try:
        if isinstance(value, bool) or found is None:
            raise ValueError
        number, unit, binary = found.groups()
        power = "kmgt".find(unit) + 1 if unit else 0
        return int(float(number) * (1024**power if binary else _UNITS[unit]))
    except ValueError:
        raise UsageError(f"{name} is {value!r}; expected a size, such as '500MB' or '2GiB'") from None


def bytes_text(count: float) -> str:
    """
    >>> bytes_text(532), bytes_text(8_000_016), bytes_text(2.5e9)
    ('532 B', '8.0 MB', '2.5 GB')
    """
    for size, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count:.0f} B"
