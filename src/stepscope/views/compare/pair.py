"""Choose the two runs that best show what changed: a failing one, and the most similar working one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from stepscope.common.metric_direction import Goal, goal_of
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.views.compare.columns import CompareColumn, Compared, is_seed
from stepscope.views.compare.facts import said_value
from stepscope.views.compare.metrics import said, values_of

__all__ = ["choose_pair", "column_labels", "is_broken", "main_of"]

BROKEN = {"failed", "killed", "lost"}

Entries = dict[str, list[RunEntry]]
"""The runs of each column, by the column's id."""


def main_of(entries: Sequence[RunEntry]) -> tuple[str | None, Goal | None]:
    """The main metric of most runs, and its goal."""
    goals = said(entries)
    given = Counter(name for entry in entries for name in entry.metrics.names if name in goals)
    counted = given or Counter(entry.main for entry in entries if entry.main is not None)
    if not counted:
        return None, None
    name = counted.most_common(1)[0][0]
    return name, goals.get(name) or goal_of(name)


def is_broken(entry: RunEntry, main: str | None) -> bool:
    """Whether it failed, or its main metric is no longer a number."""
    if entry.status in BROKEN:
        return True
    last = entry.metrics.number(main, "last") if main is not None and main in entry.metrics else None
    return last is not None and not math.isfinite(last)


def choose_pair(
    compared: Compared, entries: Entries, asked: tuple[str | None, str | None], main: str | None, goal: Goal | None
) -> tuple[CompareColumn | None, CompareColumn | None, str]:
    """The working column, the failing one, and why these were chosen, if they were not requested."""
    by_id = {column.id: column for column in compared.columns}
    a, b = (by_id.get(id or "") for id in asked)
    both_chosen = a is not None and b is not None and a is not b
    if both_chosen or len(by_id) < 2:
        return a, b, ""
    whole = {id: _share_whole(entries[id], main) for id in by_id}
    best = max(whole.values())
    failing = [column for column in compared.columns if whole[column.id] < best and column is not a]
    a_may_work = a is None or whole[a.id] == best
    b_may_fail = bool(failing) and (b is None or b in failing)
    if a_may_work and b_may_fail:
        return _alike(compared, entries, whole, (a, b))
    return _best_and_worst(compared, entries, (a, b), main, goal)


def _share_whole(entries: Sequence[RunEntry], main: str | None) -> float:
    """The fraction of a column's runs that succeeded."""
    return 1 - sum(is_broken(entry, main) for entry in entries) / len(entries) if entries else 0.0


def _alike(
    compared: Compared,
    entries: Entries,
    whole: dict[str, float],
    given: tuple[CompareColumn | None, CompareColumn | None],
) -> tuple[CompareColumn | None, CompareColumn | None, str]:
    """A failing column (the newest, if there are several) and the most similar working one."""
    best = max(whole.values())
    a, b = given
    if b is None:
        fails = [column for column in compared.columns if whole[column.id] < best]
        known = a
        b = min(
            fails,
            key=lambda column: (
                (whole[column.id],) if known is None else _distance(entries, known, column),
                -_newest(entries[column.id]),
            ),
        )
    if a is None:
        works = [column for column in compared.columns if whole[column.id] == best]
        other = b
        a = min(works, key=lambda column: (_distance(entries, column, other), -_newest(entries[column.id])))
    count = _distance(entries, a, b)[1]
    values = {0: "no config value differs", 1: "1 config value differs"}.get(count, f"{count} config values differ")
    return a, b, f"a run that fails and the most similar one that works ({values})"


def _distance(entries: Entries, one: CompareColumn, other: CompareColumn) -> tuple[int, int, int]:
    """How different two columns are: the project, then config values without seeds, then the commit."""
    left, right = entries[one.id], entries[other.id]
    project = {entry.project for entry in left}.isdisjoint(entry.project for entry in right)
    keys = {key for entry in (*left, *right) for key in entry.config if not is_seed(key)}
    values = sum({_text(entry, key) for entry in left}.isdisjoint(_text(entry, key) for entry in right) for key in keys)
    commit = {entry.head.commit for entry in left}.isdisjoint(entry.head.commit for entry in right)
    return int(project), values, int(commit)


def _text(entry: RunEntry, key: str) -> str | None:
    value = entry.config.get(key)
    return None if value is None else said_value(value)


def _newest(entries: Sequence[RunEntry]) -> float:
    return max((entry.created for entry in entries), default=0.0)


def _best_and_worst(
    compared: Compared,
    entries: Entries,
    given: tuple[CompareColumn | None, CompareColumn | None],
    main: str | None,
    goal: Goal | None,
) -> tuple[CompareColumn | None, CompareColumn | None, str]:
    """If all or none succeeded: by the main metric. The first of equals is the better, the last the worse."""
    worth = {column.id: _worth(entries[column.id], main, goal) for column in compared.columns}
    a, b = given
    a = a or max((column for column in compared.columns if column is not b), key=lambda column: worth[column.id])
    if b is None or b is a:
        rest = [column for column in compared.columns if column is not a]
        measured = [column for column in rest if worth[column.id] > -math.inf]
        # A column is never the worst just for lacking the metric.
        b = min(reversed(measured or rest), key=lambda column: worth[column.id])
    if not main or not goal:
        return a, b, ""
    if worth[a.id] == worth[b.id]:
        return a, b, f"no run is better than another by {main}"
    return a, b, f"the best and the worst by {main}, {'lower' if goal == 'min' else 'higher'} is better"


def column_labels(
    sides: tuple[Sequence[RunEntry], Sequence[RunEntry]], main: str | None, goal: Goal | None
) -> list[str]:
    """What to call two columns whose outcomes differ, in their order."""
    whole = [_share_whole(side, main) for side in sides]
    if whole[0] != whole[1]:
        return ["Works", "Fails"] if whole[0] > whole[1] else ["Fails", "Works"]
    worth = [_worth(side, main, goal) for side in sides]
    if worth[0] == worth[1] or -math.inf in worth:
        return ["First", "Second"]
    return ["Better", "Worse"] if worth[0] > worth[1] else ["Worse", "Better"]


def _worth(entries: Sequence[RunEntry], main: str | None, goal: Goal | None) -> float:
    """Higher is better."""
    values = [value for value in values_of(entries, main or "", "last") if math.isfinite(value)]
    if not values or goal is None:
        return -math.inf
    return float(np.mean(values)) * (-1 if goal == "min" else 1)
