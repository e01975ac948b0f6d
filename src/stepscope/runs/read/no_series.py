"""The error message for a series that a run does not have."""

from __future__ import annotations

from difflib import get_close_matches


def no_series(name: str, names: list[str]) -> str:
    """What there is instead.

    >>> no_series("los", ["loss", "lr"])
    "has no series 'los'; did you mean 'loss'? It has loss, lr"
    """
    close = get_close_matches(name, names, 1)
    shown = ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"has no series {name!r}{hint} It has {shown or 'none yet'}"
