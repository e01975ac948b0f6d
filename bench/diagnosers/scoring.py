"""What is counted of each script, and the tables of it."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any


@dataclass
class Judged:
    """One script as one tool saw it."""

    script: str
    group: str
    rule: str | None
    """The fault it has; None for a healthy one."""
    crashes: bool = False
    found: bool = False
    placed: bool = False
    """The cause's line, or one at most three away from it, was named."""
    alarms: list[str] = field(default_factory=list)
    """What was said at warning or above."""
    said: list[dict[str, Any]] = field(default_factory=list)
    """All findings, to be read by a person."""
    differs: list[str] = field(default_factory=list)
    """What was not the same without the tool: exit code, printed text, weights."""
    faults: list[str] = field(default_factory=list)
    """Failures of the tool itself."""
    seconds: float = 0.0
    told: tuple[int, float] | None = None
    """The training step and the seconds since the process began when the fault was reported, where known."""


def names_fault(kinds: Iterable[str], names: dict[str, tuple[str, ...]], rules: Iterable[str]) -> bool:
    """Whether one of these kinds of finding names the class of one of these faults."""
    patterns = [pattern for kind in kinds for pattern in names.get(kind, ())]
    return any(fnmatch.fnmatchcase(rule, pattern) for rule in rules for pattern in patterns)


def totals(judged: list[Judged]) -> dict[str, Any]:
    """The figures of one tool."""
    faulty, healthy = [j for j in judged if j.rule], [j for j in judged if not j.rule]
    return {
        "faulty": len(faulty),
        "found": sum(j.found for j in faulty),
        "silent": sum(not j.crashes for j in faulty),
        "silent_found": sum(j.found for j in faulty if not j.crashes),
        "placed": sum(j.placed for j in faulty),
        "healthy": len(healthy),
        "healthy_with_alarms": sum(bool(j.alarms) for j in healthy),
        "alarms_on_healthy": sum(len(j.alarms) for j in healthy),
        "changed": sum(bool(j.differs) for j in judged),
        "own_faults": sum(bool(j.faults) for j in judged),
        "seconds": round(sum(j.seconds for j in judged), 1),
        "step_told": _middle([j.told[0] for j in faulty if j.told and not j.crashes]),
        "seconds_told": _middle([j.told[1] for j in faulty if j.told]),
        "seconds_run": _middle([j.seconds for j in faulty if j.told]),
    }


def _middle(values: list[float]) -> float | None:
    return round(median(values), 2) if values else None


def by_group(judged: list[Judged]) -> str:
    """Recall and lines group by group, as a table."""
    rows = ["| group | faulty | found | line within 3 | healthy | false alarms |", "|---|---|---|---|---|---|"]
    for group in sorted({j.group for j in judged}):
        rows.append(_row(group, totals([j for j in judged if j.group == group])))
    rows.append(_row("**all**", totals(judged)))
    return "\n".join(rows)


def _row(name: str, t: dict[str, Any]) -> str:
    return (
        f"| {name} | {t['faulty']} | {portion(t['found'], t['faulty'])} | {portion(t['placed'], t['faulty'])} | "
        f"{t['healthy']} | {t['healthy_with_alarms']} |"
    )


def portion(part: int, whole: int) -> str:
    return f"{part} ({part / whole:.0%})" if whole else "–"


def _precision(t: dict[str, Any]) -> str:
    """Of the scripts with an alarm that is right or false, those where it is right."""
    told = t["found"] + t["healthy_with_alarms"]
    return f"{t['found'] / told:.0%}" if told else "–"


def side_by_side(tools: dict[str, list[Judged]]) -> str:
    """One line for each tool, all on the same scripts."""
    rows = [
        "| | faults found | of those that do not crash | line within 3 | healthy scripts with an alarm | precision "
        "| scripts it changed |",
        "|---|---|---|---|---|---|---|",
    ]
    for tool, judged in tools.items():
        t = totals(judged)
        rows.append(
            f"| {tool} | {portion(t['found'], t['faulty'])} | {portion(t['silent_found'], t['silent'])} | "
            f"{portion(t['placed'], t['faulty'])} | "
            f"{portion(t['healthy_with_alarms'], t['healthy'])} | {_precision(t)} | {t['changed']} |"
        )
    return "\n".join(rows)


def as_json(tools: dict[str, list[Judged]]) -> dict[str, Any]:
    return {tool: {"totals": totals(judged), "scripts": [asdict(j) for j in judged]} for tool, judged in tools.items()}
