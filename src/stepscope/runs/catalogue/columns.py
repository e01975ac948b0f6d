"""The columns available in the table of runs: facts, config keys and metrics."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from stepscope.common.metric_direction import Goal, goal_of
from stepscope.runs.catalogue.entry import FACTS, RunEntry
from stepscope.runs.catalogue.selection import newest_goals
from stepscope.runs.query.fields import RUN_FIELDS, Field, field_key

_LABELS = {"git.commit": "commit", "git.branch": "branch", "id": "run id"}
_SHOWN_STATS = ("last", "min", "max", "mean")
MOST_DISTINCT = 1000
"""Distinct values are counted up to this number."""
_MOST_METRICS = 5000


@dataclass(frozen=True)
class RunColumn:
    key: str
    """As in a query: `name`, `config.lr`, `loss.min`."""
    label: str
    source: Literal["run", "config", "metric"]
    type: Literal["text", "number", "bool", "time", "duration"]
    distinct: int
    """Number of distinct values (for a metric: number of runs that have it)."""
    count: int
    """Number of runs that have a value."""


def run_columns(entries: Sequence[RunEntry]) -> list[RunColumn]:
    """All columns for these runs: facts, then config by name, then metrics in the order they were logged."""
    return [*_facts(entries), *_config(entries), *_metrics(entries)]


def default_columns(columns: Iterable[RunColumn], entries: Sequence[RunEntry]) -> list[str]:
    """The default columns: config that differs between the runs, and their main metrics."""
    mains = Counter(entry.main for entry in entries if entry.main is not None)

    def goals(names: Collection[str]) -> dict[str, Goal]:
        return {name: goal for name, (_, goal) in newest_goals(entries, names).items()}

    return best_of(columns, len(entries), mains, goals)


def best_of(
    columns: Iterable[RunColumn],
    runs: int,
    mains: Counter[str],
    goals: Callable[[Collection[str]], dict[str, Goal]],
) -> list[str]:
    """The default columns of `runs` runs with these main metrics; `goals` says which way metrics are good."""
    differing = [one for one in columns if one.source == "config" and one.distinct > 1 and one.count * 4 >= runs]
    differing.sort(key=lambda one: -one.count)
    best = [name for name, count in mains.most_common(2) if count * 4 >= runs]
    said = goals(best) if best else {}
    metrics = []
    for name in best:
        better: Literal["min", "max"] = "max" if (said.get(name) or goal_of(name)) == "max" else "min"
        metrics += [field_key(Field("metric", name, stat)) for stat in ("last", better)]
    return [one.key for one in differing[:6]] + metrics


def _facts(entries: Sequence[RunEntry]) -> list[RunColumn]:
    columns = []
    for name, kind in RUN_FIELDS.items():
        fact = FACTS[name]
        found = [value for entry in entries if (value := fact(entry.head, 0.0)) not in (None, "", [])]
        distinct = len({tuple(value) for value in found} if kind == "tags" else set(found))
        columns.append(fact_column(name, min(distinct, MOST_DISTINCT), len(found)))
    return columns


def fact_column(name: str, distinct: int, count: int) -> RunColumn:
    kind = RUN_FIELDS[name]
    shown: Any = "text" if kind == "tags" else kind
    return RunColumn(name, _LABELS.get(name, name), "run", shown, distinct, count)


def _config(entries: Sequence[RunEntry]) -> list[RunColumn]:
    found: defaultdict[str, list[Any]] = defaultdict(list)
    for entry in entries:
        for key, value in entry.head.config.items():
            found[key].append(value)
    return [_column_of(key, values) for key, values in sorted(found.items())]


def _column_of(key: str, values: list[Any]) -> RunColumn:
    kinds = set(map(type, values))
    if not kinds <= _PLAIN:
        values = [value if type(value) in _PLAIN else repr(value) for value in values]
    return config_column(key, min(len(set(values)), MOST_DISTINCT), len(values), kinds)


def config_column(key: str, distinct: int, count: int, kinds: set[type]) -> RunColumn:
    return RunColumn(field_key(Field("config", key)), key, "config", _config_type(kinds), distinct, count)


_PLAIN = {str, int, float, bool, type(None)}


def _config_type(kinds: set[type]) -> Literal["text", "number", "bool"]:
    kinds = kinds - {type(None)}
    if kinds and kinds <= {int, float}:
        return "number"
    return "bool" if kinds == {bool} else "text"


def _metric_label(name: str, stat: str) -> str:
    """The key in the query language, where a bare name means the last value."""
    return name if stat == "last" else f"{name}.{stat}"


def _metrics(entries: Sequence[RunEntry]) -> list[RunColumn]:
    runs_by_names: dict[int, tuple[tuple[str, ...], int]] = {}
    for entry in entries:  # runs with the same metrics share one tuple
        names = entry.metrics.names
        runs_by_names[id(names)] = (names, runs_by_names.get(id(names), (names, 0))[1] + 1)
    counts: Counter[str] = Counter()
    for names, runs in runs_by_names.values():
        for name in names:
            counts[name] += runs
    return metric_columns(counts)


def metric_columns(counts: Counter[str]) -> list[RunColumn]:
    """The columns of metrics, by the number of runs that have each."""
    return [
        RunColumn(field_key(Field("metric", name, stat)), _metric_label(name, stat), "metric", "number", count, count)
        for name, count in list(counts.items())[:_MOST_METRICS]
        for stat in _SHOWN_STATS
    ]
