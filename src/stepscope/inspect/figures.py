"""Numbers and shapes in readable form, and text that is safe to print."""

from __future__ import annotations

from collections.abc import Sequence


def count(value: float | None) -> str:
    """A number of parameters or operations, with three or four digits.

    >>> [count(v) for v in (None, 0, 512, 9999, 25_557_032, 4_089_184_256)]
    ['-', '0', '512', '9,999', '25.56 M', '4.089 G']
    """
    if value is None:
        return "-"
    if abs(value) < 10_000:
        return f"{value:,.0f}"
    for unit, scale in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= scale * 0.99995:
            return f"{value / scale:.4g} {unit}"
    return f"{value:.4g}"


def share(part: float | None, whole: float | None) -> str:
    """A part of a whole in percent.

    >>> share(1, 8), share(None, 8)
    ('12.5%', '-')
    """
    if part is None or not whole:
        return "-"
    return f"{100 * part / whole:.1f}%"


def shape(sizes: Sequence[int] | None) -> str:
    """
    >>> shape((1, 3, 224, 224)), shape(()), shape(None)
    ('1×3×224×224', 'scalar', '-')
    """
    if sizes is None:
        return "-"
    return "×".join("?" if size < 0 else str(size) for size in sizes) if sizes else "scalar"
