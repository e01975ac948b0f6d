"""Every rule says what it must have seen, in words that somebody checks."""

from __future__ import annotations

from stepscope.diagnose.completeness import _NEEDED, NEEDS, incomplete, needs_of
from stepscope.diagnose.rule import all_rules

LIVE = {"steps", "end", "probe"}


def test_every_need_is_one_that_is_checked_for() -> None:
    assert {need for needs in _NEEDED.values() for need in needs} <= set(NEEDS)


def test_every_exception_names_a_rule_and_every_group_has_needs() -> None:
    rules = all_rules()
    assert [name for name in _NEEDED if "*" not in name and name not in rules] == []
    asked_live = {rule.group for rule in rules.values() if LIVE & set(rule.needs.split(", "))}
    assert sorted(group for group in asked_live if f"{group}.*" not in _NEEDED) == ["compile", "stop"]


def test_a_rule_is_unproven_by_its_first_unmet_need() -> None:
    missing = {
        "operations": "the operations of the model were not recorded",
        "evaluation": "nothing ran without gradients",
    }
    asked = ["grad.vanishing", "mode.no-eval", "opt.no-zero-grad", "repro.set-order"]
    assert incomplete(asked, missing) == {"grad.vanishing": "operations", "mode.no-eval": "evaluation"}
    assert needs_of("repro.set-order") == ()
