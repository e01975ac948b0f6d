"""The order in which rules are asked: causes before what they explain."""

from __future__ import annotations

from functools import lru_cache

from stepscope.diagnose.rule import Rule, explains


def causes_first(rules: list[Rule]) -> list[Rule]:
    """The rules in an order in which each comes after those whose findings would explain it away."""
    return list(_ordered(tuple(rules)))


@lru_cache(maxsize=16)
def _ordered(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    by_id = {rule.id: rule for rule in rules}
    groups: dict[str, list[Rule]] = {}
    ordered: dict[str, Rule] = {}
    open_: set[str] = set()

    def meant_by(pattern: str) -> list[Rule]:
        if "*" not in pattern:
            return [by_id[pattern]] if pattern in by_id else []
        if pattern not in groups:
            groups[pattern] = [rule for rule in rules if explains(rule.id, pattern)]
        return groups[pattern]

    def place(rule: Rule) -> None:
        if rule.id in ordered or rule.id in open_:
            return
        open_.add(rule.id)
        for pattern in rule.follows:
            for cause in meant_by(pattern):
                place(cause)
        ordered[rule.id] = rule

    for rule in rules:
        place(rule)
    return tuple(ordered.values())
