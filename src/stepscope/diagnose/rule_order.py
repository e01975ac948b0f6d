"""The order in which rules are asked: causes before what they explain."""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.diagnose.rule import Rule

__all__ = ["causes_first"]


def causes_first(rules: list[Rule]) -> list[Rule]:
    """The rules in an order in which each comes after those whose findings would explain it away."""
    by_id = {rule.id: rule for rule in rules}
    ordered: dict[str, Rule] = {}
    open_: set[str] = set()

    def causes(rule: Rule) -> list[Rule]:
        named = [by_id[pattern] for pattern in rule.follows if pattern in by_id]
        globs = [pattern for pattern in rule.follows if "*" in pattern]
        return named + [other for glob in globs for other in rules if fnmatch.fnmatchcase(other.id, glob)]

    def place(rule: Rule) -> None:
        if rule.id in ordered or rule.id in open_:
            return
        open_.add(rule.id)
        for other in causes(rule):
            place(other)
        ordered[rule.id] = rule

    for rule in rules:
        place(rule)
    return list(ordered.values())
