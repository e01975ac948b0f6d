"""Which direction of a metric is better, as defined with `run.define`. `common.metric_direction` guesses from names."""

from __future__ import annotations

from collections.abc import Iterable

from stepscope.common.metric_direction import Goal
from stepscope.records import MetricRule


def said_goals(names: Iterable[str], rules: Iterable[MetricRule]) -> dict[str, Goal]:
    """The goals set by `run.define`, by metric; exact names before `*` patterns, later before earlier."""
    found: dict[str, Goal] = {}
    given = [rule for rule in rules if rule.goal is not None]
    for name in names if given else ():
        own = [rule for rule in given if rule.name == name]
        wide = [rule for rule in given if rule.name.endswith("*") and name.startswith(rule.name[:-1])]
        goal = (own or wide)[-1].goal if own or wide else None
        if goal is not None:
            found[name] = goal
    return found
