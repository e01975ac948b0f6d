"""The best value of a column over all matching finished runs, including those not on the page."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from dataclasses import replace

from stepscope.common.metric_direction import goal_of
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.catalogue.selection import Selection
from stepscope.runs.query.query import Field

_COMPARED = {"last", "min", "max", "mean"}
"""Counts and steps have no good direction."""

_kept: weakref.WeakKeyDictionary[Catalogue, tuple[object, dict[Field, float | None]]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def best_values(
    catalogue: Catalogue, version: int, asked: Selection, fields: Sequence[Field | None]
) -> list[float | None]:
    """One value per field, cached for a selection while the user scrolls."""
    asked = replace(asked, sort="created", descending=True, group_by=None)  # independent of the order
    question = (version, asked)
    with _lock:
        known = _kept.get(catalogue)
        if known is None or known[0] != question:
            known = _kept[catalogue] = (question, {})
    found = known[1]
    unknown = [field for field in dict.fromkeys(fields) if field is not None and field not in found]
    found.update(_best(catalogue, asked, unknown))
    return [None if field is None else found[field] for field in fields]


def _best(catalogue: Catalogue, asked: Selection, fields: list[Field]) -> dict[Field, float | None]:
    """The best finite numbers; None with fewer than two runs, equal values, or an unknown direction."""
    compared = [one for one in fields if one.source in ("metric", "summary") and (one.stat or "last") in _COMPARED]
    best: dict[Field, float | None] = dict.fromkeys(fields)
    said = catalogue.goals(asked, {field.name for field in compared}) if compared else {}
    goals = {field: goal for field in compared if (goal := said.get(field.name) or goal_of(field.name)) is not None}
    ends = catalogue.finished_ranges(asked, list(goals)) if goals else {}
    for field, (low, high) in ends.items():
        if low != high:
            best[field] = low if goals[field] == "min" else high
    return best
