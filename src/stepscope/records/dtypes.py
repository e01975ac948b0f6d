"""Properties of a data type, from its name."""

from __future__ import annotations

__all__ = ["is_floating"]


def is_floating(dtype: str) -> bool:
    """
    >>> [is_floating(name) for name in ("float32", "bfloat16", "float8_e5m2", "int64", "complex64", "bool")]
    [True, True, True, False, False, False]
    """
    return dtype.startswith(("float", "bfloat"))
