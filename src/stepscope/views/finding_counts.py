"""Number of errors and warnings of diagnosed runs, for lists of runs; a list never triggers a diagnosis."""

from __future__ import annotations

from collections.abc import Iterable

from stepscope.records import Finding

FindingCounts = tuple[int, int]
"""Errors; errors and warnings."""

_counts: dict[str, FindingCounts] = {}


def count_findings(run: str, findings: Iterable[Finding]) -> None:
    """Store the counts of a run that was just diagnosed, by its id."""
    grave = [one.severity for one in findings if one.severity != "info"]
    _counts[run] = (grave.count("error"), len(grave))


def counted(run: str) -> FindingCounts:
    """The counts of a diagnosed run; zeros if it has not been diagnosed."""
    return _counts.get(run, (0, 0))
