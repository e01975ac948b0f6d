"""The best value of a column over all finished runs that match, however many of them the page shows."""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Hashable, Iterable, Sequence

from stepscope.common.metric_direction import Goal, goal_of
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.query.query import Field

__all__ = ["best_values"]

_COMPARED = {"last", "min", "max", "mean"}
"""A count or a step is neither good nor bad."""

_kept: weakref.WeakKeyDictionary[Catalogue, tuple[Hashable, dict[Field, float | None]]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def best_values(
    catalogue: Catalogue, of: Hashable, entries: list[RunEntry], fields: Sequence[Field | None]
) -> list[float | None]:
    """One value per field. What was found for the same question `of` is not looked for again while one scrolls."""
    with _lock:
        known = _kept.get(catalogue)
        if known is None or known[0] != of:
            known = _kept[catalogue] = (of, {})
    found = known[1]
    unknown = [field for field in fields if field is not None and field not in found]
    outspoken = [entry for entry in entries if entry.head.goals] if unknown else []
    wanted = {field: goal for field in unknown if (goal := _goal(field, outspoken)) is not None}
    catalogue.prefetch(entries, list(wanted))
    for field, goal in wanted.items():
        found[field] = _best((entry.value(field) for entry in entries if entry.status == "finished"), goal)
    return [None if field is None else found.get(field) for field in fields]


def _goal(field: Field, entries: list[RunEntry]) -> Goal | None:
    """As the newest run that has a word on it says, else as the name says."""
    if field.source not in ("metric", "summary") or (field.stat or "last") not in _COMPARED:
        return None
    said = max((entry for entry in entries if field.name in entry.goals), key=lambda entry: entry.id, default=None)
    return goal_of(field.name) if said is None else said.goals[field.name]


def _best(values: Iterable[object], goal: Goal) -> float | None:
    """The best finite number; None with fewer than two runs, or when all are alike."""
    finite = [float(one) for one in values if isinstance(one, (int, float)) and math.isfinite(one)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    return None if low == high else low if goal == "min" else high
