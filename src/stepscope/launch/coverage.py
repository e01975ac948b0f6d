"""What was watched in detail and what was not: kept with the run, and said wherever a verdict is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.common import clocks
from stepscope.launch.missing_evidence import unproven_rules
from stepscope.records import Coverage
from stepscope.records.run import WatchedSteps

if TYPE_CHECKING:
    from stepscope.events.governor import Governor
    from stepscope.launch.verdict_facts import Case

_MOST_WINDOWS = 200
_OF_THE_WATCH = ("steps", "operations", "epoch")


def coverage_of(case: Case) -> Coverage | None:
    """Of a training that was watched; None without a watch or a step."""
    watcher = case.watcher
    if watcher is None or not watcher.step:
        return None
    from stepscope.events import aside

    governor = watcher.governor
    return Coverage(
        time=clocks.time(),
        steps=watcher.step,
        closely=governor.coverage(),
        windows=_windows(governor),
        closed=governor.closed or "",
        aside=dict(aside.noted),
        unproven=unproven_rules(case),
    )


def _windows(governor: Governor) -> list[WatchedSteps]:
    return [
        WatchedSteps(
            first=one.first,
            last=governor.step if one.last is None else one.last,
            steps=one.steps,
            why=one.why,
            ended=one.ended,
            alarm=one.is_alarm,
        )
        for one in governor.windows[:_MOST_WINDOWS]
    ]


def keep_coverage(case: Case) -> None:
    """Write it into the run."""
    coverage = coverage_of(case)
    if coverage is not None:
        case.around.tracking.event(coverage)


def coverage_text(coverage: Coverage) -> str:
    """In words; empty when every step was watched in detail.

    >>> coverage_text(Coverage(time=0.0, steps=500, closely=[(1, 40), (100, 101)]))
    'watched in detail for steps 1 to 40 and 100 to 101; the other steps by their pulse only'
    >>> spike = WatchedSteps(first=413, last=415, steps=3, why="the loss jumped", alarm=True)
    >>> coverage_text(Coverage(time=0.0, steps=500, closely=[(1, 40), (413, 415)], windows=[spike]))
    'watched in detail for steps 1 to 40 and 413 to 415 (the loss jumped); the other steps by their pulse only'
    """
    if sum(last - first + 1 for first, last in coverage.closely) >= coverage.steps:
        return ""
    why = f" ({coverage.closed})" if coverage.closed else ""
    if not coverage.closely:
        return f"no step was watched in detail{why}; all by their pulse only"
    spans = [_span_text(first, last, coverage.windows) for first, last in coverage.closely]
    listed = spans[0] if len(spans) == 1 else f"{', '.join(spans[:-1])} and {spans[-1]}"
    noun = "step" if coverage.closely[0][0] == coverage.closely[-1][1] else "steps"
    return f"watched in detail for {noun} {listed}{why}; the other steps by their pulse only"


def _span_text(first: int, last: int, windows: list[WatchedSteps]) -> str:
    """With the reason, where it is more than the schedule."""
    reasons = [one.why for one in windows if one.alarm and one.steps and first <= one.first <= last]
    span = f"{first} to {last}" if last > first else str(first)
    return f"{span} ({'; '.join(reasons)})" if reasons else span


def unproven_text(coverage: Coverage) -> list[str]:
    """A line for each thing that rules need and the watch did not see; what the script never does is not among them.

    >>> from stepscope.records.run import Unproven
    >>> cut = Unproven(need="epoch", why="no complete pass over the training data", rules=["data.label-noise"])
    >>> unproven_text(Coverage(time=0.0, steps=9, unproven=[cut]))
    ['data.label-noise did not see enough: no complete pass over the training data']
    """
    unseen = [one for one in coverage.unproven if one.need in _OF_THE_WATCH]
    return [f"{_rules_text(one.rules)} did not see enough: {one.why}" for one in unseen]


def _rules_text(rules: list[str]) -> str:
    groups = ", ".join(dict.fromkeys(f"{rule.split('.')[0]}.*" for rule in rules))
    return rules[0] if len(rules) == 1 else f"{len(rules)} rules ({groups})"
