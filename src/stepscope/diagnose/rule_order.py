"""The order in which rules are asked: causes before what they explain."""

from __future__ import annotations

from stepscope.diagnose.rule import Rule, explains


def causes_first(rules: list[Rule]) -> list[Rule]:
    """The rules in an order in which each comes after those whose findings would explain it away."""
    by_id = {rule.id: rule for rule in rules}
    ordered: dict[str, Rule] = {}
    open_: set[str] = set()

    def place(rule: Rule) -> None:
        if rule.id in ordered or rule.id in open_:
            return
        open_.add(rule.id)
        for pattern in rule.follows:
            if pattern in by_id:
                place(by_id[pattern])
            elif "*" in pattern:
                for other in rules:
                    if explains(other.id, pattern):
                        place(other)
        ordered[rule.id] = rule

    for rule in rules:
        place(rule)
    return list(ordered.values())
