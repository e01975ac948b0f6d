"""What the watch of a script did not see, in words: the rules that need it have not passed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.diagnose.completeness import NEEDS, incomplete
from stepscope.records.run import Unproven
from stepscope.track import ranks

if TYPE_CHECKING:
    from stepscope.launch.verdict_facts import Case
    from stepscope.record.observers import Watcher

_FEWEST_STEPS = 3
"""Rules on order compare this many steps; fewer can be a warm-up."""


def missing_evidence(case: Case) -> dict[str, str]:
    """The needs of rules (`completeness.NEEDS`) that were not met, and why."""
    watcher = case.watcher
    if watcher is None:
        return dict.fromkeys(NEEDS, "the script was not watched")
    found = {
        "steps": _steps(case.loop.steps, watcher, by_hand=case.loop.steps > 0 and not case.loop.optimizers),
        "operations": _operations(case.loop.steps, watcher),
        "loader": "" if case.loop.batches else "the script uses no DataLoader",
        "epoch": "passes over the training data were cut short" if case.limiter.shortened else _epoch(watcher),
        "evaluation": _evaluation(watcher),
        "files": "" if _touched_files(watcher) else "nothing was saved or loaded",
        "ranks": "" if ranks.place().world_size > 1 else "there is only one process",
    }
    return {need: why for need, why in found.items() if why}


def unproven_rules(case: Case) -> list[Unproven]:
    """The rules that found nothing and could not have, by what they missed."""
    from stepscope.diagnose.rule import running_rules

    told = {one.rule for one in case.findings}
    asked = [rule for rule in running_rules() if rule not in told and case.around.settings.is_wanted(rule)]
    missing = missing_evidence(case)
    by_need: dict[str, list[str]] = {}
    for rule, need in incomplete(asked, missing).items():
        by_need.setdefault(need, []).append(rule)
    return [Unproven(need=need, why=missing[need], rules=rules) for need, rules in by_need.items()]


def _closely(watcher: Watcher) -> int:
    """How many steps were watched in detail."""
    return sum(window.steps for window in watcher.governor.windows)


def _because(watcher: Watcher) -> str:
    return f": {watcher.governor.closed}" if watcher.governor.closed else ""


def _steps(made: int, watcher: Watcher, *, by_hand: bool) -> str:
    seen = _closely(watcher)
    if not made:
        return "no optimizer step was seen"
    if by_hand:
        return "the script updates its weights by hand: there is no optimizer to observe"
    if made < _FEWEST_STEPS:
        return f"only {made} optimizer step{'s' * (made > 1)} of at least {_FEWEST_STEPS}"
    return "" if seen >= _FEWEST_STEPS else _too_few(seen, made, watcher)


def _operations(made: int, watcher: Watcher) -> str:
    if _closely(watcher) or any(visit.outputs for visit in watcher.visits.roots):
        return ""
    return _too_few(0, made, watcher) if made else f"the operations of the model were not recorded{_because(watcher)}"


def _too_few(seen: int, made: int, watcher: Watcher) -> str:
    return f"{seen or 'none'} of {made} steps {'was' if seen == 1 else 'were'} watched in detail{_because(watcher)}"


def _epoch(watcher: Watcher) -> str:
    finished = any(one.finished for one in watcher.loaders.all if one.is_training)
    return "" if finished else "no complete pass over the training data"


def _evaluation(watcher: Watcher) -> str:
    return "" if any(not visit.grad for visit in watcher.visits.roots) else "nothing ran without gradients"


def _touched_files(watcher: Watcher) -> bool:
    seen = watcher.checkpoints
    return bool(seen.loadings or seen.reads or seen.writes or seen.optimizer_loads)
