"""How many errors and warnings diagnosed runs have, for lists of runs; nothing is diagnosed for a list."""

from __future__ import annotations

from collections.abc import Iterable

from stepscope.records import Finding

__all__ = ["FindingCounts", "count_findings", "counted"]

FindingCounts = tuple[int, int]
"""Errors; errors and warnings."""

_counts: dict[str, FindingCounts] = {}


def count_findings(run: str, findings: Iterable[Finding]) -> None:
    """Keep the counts of a run that was just diagnosed, by its id."""
    grave = [one.severity for one in findings if one.severity != "info"]
    _counts[run] = (grave.count("error"), len(grave))


def counted(run: str) -> FindingCounts:
    """The counts of a run that was diagnosed already; zeros where nobody has looked."""
    return _counts.get(run, (0, 0))
