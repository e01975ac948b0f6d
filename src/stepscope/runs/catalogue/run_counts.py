"""Counts over all runs of a store, kept up to date run by run: what the table's columns say without looking at runs.

    counts = RunCounts()
    counts.add(entry.head, entry.metrics.names)
    counts.columns({"vision"}), counts.default_columns({"vision"})

The same columns as `run_columns` gives for these runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import Any

from stepscope.common.metric_direction import Goal
from stepscope.runs.catalogue.columns import (
    MOST_DISTINCT,
    RunColumn,
    best_of,
    config_column,
    fact_column,
    metric_columns,
)
from stepscope.runs.catalogue.entry import FACTS, Head
from stepscope.runs.query.fields import RUN_FIELDS

Goals = Callable[[Collection[str]], dict[str, Goal]]
_PLAIN = (str, int, float, bool, type(None))


class _Values:
    """The values of one field: how many runs have each type and, while they are few, each value."""

    __slots__ = ("kinds", "runs")

    def __init__(self) -> None:
        self.kinds: Counter[type] = Counter()
        self.runs: Counter[Any] | None = Counter()
        """None once there were more than are counted."""

    def add(self, value: Any, by: int) -> None:
        self.kinds[type(value)] += by
        if self.runs is None:
            return
        key = value if type(value) in _PLAIN and value == value else repr(value)  # NaN is not equal to itself
        self.runs[key] += by
        if self.runs[key] <= 0:
            del self.runs[key]
        elif len(self.runs) > MOST_DISTINCT:
            self.runs = None


class _Project:
    def __init__(self) -> None:
        self.runs = 0
        self.facts: dict[str, _Values] = {}
        self.config: dict[str, _Values] = {}
        self.names: Counter[tuple[str, ...]] = Counter()
        self.mains: Counter[str] = Counter()


class RunCounts:
    """Not safe to use from several threads; a reader may see the counts of a moment in between."""

    def __init__(self) -> None:
        self._projects: dict[str, _Project] = {}

    def add(self, head: Head, names: tuple[str, ...], by: int = 1) -> None:
        """Count a run; with `by=-1`, one that is gone, as it was when it was counted."""
        own = self._projects.get(head.project)
        if own is None:
            own = self._projects[head.project] = _Project()
        own.runs += by
        own.names[names] += by
        if head.main is not None:
            own.mains[head.main] += by
        for name in RUN_FIELDS:
            value = FACTS[name](head, 0.0)
            if value not in (None, "", []):
                own.facts.setdefault(name, _Values()).add(value, by)
        for key, value in head.config.items():
            own.config.setdefault(key, _Values()).add(value, by)
        if own.runs <= 0:
            del self._projects[head.project]

    def remove(self, head: Head, names: tuple[str, ...]) -> None:
        self.add(head, names, -1)

    def projects(self) -> list[str]:
        return sorted(self._projects)

    def runs(self, projects: Collection[str] | None = None) -> int:
        """The number of runs in some projects; None for all."""
        return sum(one.runs for one in self._of(projects))

    def known_names(self) -> set[str]:
        """The `config.<key>` and `<metric>` of all runs."""
        found = {name for one in self._of(None) for names in list(one.names) for name in names}
        return found | {f"config.{key}" for one in self._of(None) for key in list(one.config)}

    def columns(self, projects: Collection[str] | None = None) -> list[RunColumn]:
        chosen = self._of(projects)
        facts = [fact_column(name, *_merged([one.facts for one in chosen], name)[:2]) for name in RUN_FIELDS]
        config = []
        for key in sorted({key for one in chosen for key in list(one.config)}):
            distinct, count, kinds = _merged([one.config for one in chosen], key)
            if count:
                config.append(config_column(key, distinct, count, kinds))
        names: Counter[str] = Counter()
        for one in chosen:
            for group, runs in list(one.names.items()):
                if runs > 0:
                    names.update(dict.fromkeys(group, runs))
        return [*facts, *config, *metric_columns(names)]

    def default_columns(
        self, columns: Iterable[RunColumn], goals: Goals, projects: Collection[str] | None = None
    ) -> list[str]:
        mains: Counter[str] = Counter()
        for one in self._of(projects):
            mains.update(one.mains)
        return best_of(columns, self.runs(projects), mains, goals)

    def _of(self, projects: Collection[str] | None) -> list[_Project]:
        known = self._projects
        if projects is None:
            return list(known.values())
        return [known[name] for name in sorted(projects) if name in known]


def _merged(held: list[dict[str, _Values]], name: str) -> tuple[int, int, set[type]]:
    """How many values a field has over several projects, how many runs have one, and of which types."""
    found = [one[name] for one in held if name in one]
    kinds: Counter[type] = Counter()
    for values in found:
        kinds.update(values.kinds)
    many = any(values.runs is None for values in found)
    distinct = MOST_DISTINCT if many else len({key for values in found for key in list(values.runs or ())})
    return min(distinct, MOST_DISTINCT), sum(kinds.values()), {kind for kind, runs in kinds.items() if runs > 0}
