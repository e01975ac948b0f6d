"""Select series by names, or patterns with `*` and `?`."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from stepscope.errors import NotFound
from stepscope.runs.query.evaluate import glob

if TYPE_CHECKING:
    from stepscope.runs.read.folder import RunFolder


def choose_series(run: RunFolder, names: Sequence[str] | None = None) -> list[str]:
    """The names of the selected series, in the run's order; a name that matches none is an error."""
    have = list(run.metrics())
    if names is None:
        return have
    chosen: set[str] = set()
    for wanted in names:
        found = {wanted} if wanted in have else {name for name in have if glob(wanted, name)}
        if not found:
            close = get_close_matches(wanted, have, n=3)
            offer = f"did you mean {' or '.join(close)}?" if close else f"it has {_some(have)}"
            raise NotFound(f"run {run.name!r} has no series {wanted!r}; {offer}")
        chosen |= found
    return [name for name in have if name in chosen]


def _some(names: list[str]) -> str:
    if not names:
        return "none"
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return ", ".join(names[:8]) + more
