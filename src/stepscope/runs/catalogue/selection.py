"""A query for runs with its sort order and limits, answered the same way by every catalog."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from stepscope.common.metric_direction import Goal
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.query.fields import Field

ARCHIVED = "archived"
"""Runs with this tag are hidden by default."""


@dataclass(frozen=True)
class Selection:
    """A query with its order and its limits."""

    query: str = ""
    sort: str = "created"
    descending: bool = True
    group_by: str | None = None
    archived: bool = True
    """Also runs with the tag `archived`."""
    runs: frozenset[str] | None = None
    """Only these; None for all."""
    projects: frozenset[str] | None = None
    """Only runs of these; None for all."""

    def admits(self, entry: RunEntry) -> bool:
        """Whether a run is within the limits; the query is not evaluated here."""
        if self.runs is not None and entry.id not in self.runs:
            return False
        if self.projects is not None and entry.project not in self.projects:
            return False
        return self.archived or ARCHIVED not in entry.tags


class RunPage(NamedTuple):
    """A page of the selected runs."""

    entries: list[RunEntry]
    matched: int
    exact: bool = True
    """Whether `matched` is exact; otherwise it is the database's estimate, at least the number shown."""


def ranges_of(entries: Iterable[RunEntry], fields: Iterable[Field]) -> dict[Field, tuple[float, float]]:
    """The minimum and maximum finite number of each field over finished runs; fields without one are omitted."""
    finished = [entry for entry in entries if entry.status == "finished"]
    found = {}
    for field in fields:
        values = (entry.value(field) for entry in finished)
        finite = [float(one) for one in values if isinstance(one, (int, float)) and math.isfinite(one)]
        if finite:
            found[field] = (min(finite), max(finite))
    return found


def newest_goals(entries: Iterable[RunEntry], metrics: Collection[str]) -> dict[str, tuple[str, Goal]]:
    """The goal of each metric, from the newest run that defines it, with the id of that run."""
    found: dict[str, tuple[str, Goal]] = {}
    for entry in entries:
        for name, goal in entry.head.goals.items():
            if name in metrics and (name not in found or entry.id > found[name][0]):
                found[name] = (entry.id, goal)
    return found
