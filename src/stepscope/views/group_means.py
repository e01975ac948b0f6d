"""Group statistics: the mean of each metric column over a group's runs, and the spread."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.query.query import Field


class GroupMean(msgspec.Struct):
    """The mean over the runs of a group that have a finite value."""

    mean: float
    sd: float | None
    """The standard deviation with n - 1; None for a single value."""
    count: int
    """Number of runs with a finite value."""
    odd: int = 0
    """Number of runs with NaN or an infinity, which are excluded."""


def is_averaged(field: Field) -> bool:
    """Only metrics are averaged; the mean of learning rates or seeds is meaningless."""
    return field.source in ("metric", "summary")


def group_means(members: Sequence[RunEntry], fields: Sequence[Field | None], now: float) -> list[GroupMean | None]:
    """One per field; None if it is not a metric, or no run of the group has a number."""
    return [
        None if field is None or not is_averaged(field) else mean_of([entry.value(field, now) for entry in members])
        for field in fields
    ]


def mean_of(values: Sequence[object]) -> GroupMean | None:
    """The mean of the finite numbers among the values.

    >>> mean_of([1.0, 2.0, 3.0, None, float("nan")])
    GroupMean(mean=2.0, sd=1.0, count=3, odd=1)
    """
    numbers = [float(one) for one in values if isinstance(one, (int, float)) and not isinstance(one, bool)]
    finite = [one for one in numbers if math.isfinite(one)]
    if not finite:
        return None
    size = max(map(abs, finite)) or 1.0  # sums of the largest floats would overflow
    mean = math.fsum(one / size for one in finite) / len(finite)
    spread = math.fsum((one / size - mean) ** 2 for one in finite)
    sd = math.sqrt(spread / (len(finite) - 1)) * size if len(finite) > 1 else math.inf
    return GroupMean(
        mean=mean * size,
        sd=sd if math.isfinite(sd) else None,
        count=len(finite),
        odd=len(numbers) - len(finite),
    )
