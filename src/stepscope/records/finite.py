"""Whether statistics include NaN or Inf, and a description of them."""

from __future__ import annotations

from stepscope.records.step import Stats

__all__ = ["is_bad", "said_of"]


def is_bad(stats: Stats | None, nan: bool = True, inf: bool = True) -> bool:
    """Whether there was a non-finite value.

    >>> is_bad(Stats(numel=3, nan=1)), is_bad(Stats(numel=3)), is_bad(None)
    (True, False, False)
    """
    if stats is None:
        return False
    return bool((nan and stats.nan) or (inf and (stats.pos_inf or stats.neg_inf)))


def said_of(stats: Stats | None) -> str:
    """Statistics in a few words."""
    if stats is None:
        return "not recorded"
    least = "" if stats.counted else "at least "
    parts = []
    for count, word in ((stats.nan, "NaN"), (stats.pos_inf, "+Inf"), (stats.neg_inf, "-Inf")):
        if count:
            parts.append(f"{least}{count:,} {word}")
    head = f"{', '.join(parts)} of {stats.numel:,}" if parts else f"finite, {stats.numel:,} values"
    if stats.min is not None and stats.max is not None:
        head += f", from {stats.min:.4g} to {stats.max:.4g}"
    if stats.zeros:
        head += f", {stats.zeros:,} zero{'s' if stats.zeros > 1 else ''}"
    return head
