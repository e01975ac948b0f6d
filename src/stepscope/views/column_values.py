"""One column of the runs table over all matching runs: its values with counts, and its statistics."""

from __future__ import annotations

import math
import time
from collections import Counter

import msgspec
import numpy as np

from stepscope.runs.catalogue.selection import ARCHIVED
from stepscope.runs.query.query import parse_field
from stepscope.views.context import Context
from stepscope.views.route import route
from stepscope.views.runs import Cell, cell

MOST_VALUES = 50
BINS = 24


class ColumnRequest(msgspec.Struct):
    key: str
    query: str = ""
    archived: bool = False


class ValueCount(msgspec.Struct):
    value: Cell
    count: int


class ColumnStats(msgspec.Struct):
    """Statistics of the finite numbers."""

    min: float
    max: float
    mean: float
    median: float
    std: float
    bins: list[int]
    """Counts in equal bins from `min` to `max`."""


class ColumnValues(msgspec.Struct):
    runs: int
    """Number of matching runs."""
    missing: int
    """Number of runs without a value."""
    distinct: int
    values: list[ValueCount]
    """Most frequent first; up to 50."""
    stats: ColumnStats | None = None
    odd: int = 0
    """Number of NaN or infinite values."""


@route("POST", "/api/column")
def column_values(ctx: Context, request: ColumnRequest) -> ColumnValues:
    """The data of a column's menu: values to filter by, and statistics."""
    field = parse_field(request.key)
    entries = ctx.catalogue.entries(request.query)
    if not request.archived:
        entries = [entry for entry in entries if ARCHIVED not in entry.tags]
    now = time.time()
    found = [entry.value(field, now) for entry in entries]
    counts: Counter[Cell] = Counter()
    for value in found:
        counts.update(map(cell, value) if isinstance(value, (list, tuple)) else [cell(value)])
    missing = counts.pop(None, 0)
    numbers = [float(value) for value in found if isinstance(value, (int, float)) and not isinstance(value, bool)]
    finite = np.array([number for number in numbers if math.isfinite(number)])
    return ColumnValues(
        runs=len(entries),
        missing=missing,
        distinct=len(counts),
        values=[ValueCount(value, count) for value, count in counts.most_common(MOST_VALUES)],
        stats=_stats(finite) if len(finite) else None,
        odd=len(numbers) - len(finite),
    )


def _stats(finite: np.ndarray[tuple[int], np.dtype[np.float64]]) -> ColumnStats:
    low, high = float(finite.min()), float(finite.max())
    bins = np.histogram(finite, BINS, (low, high))[0].tolist() if high > low else [len(finite)]
    return ColumnStats(low, high, float(finite.mean()), float(np.median(finite)), float(finite.std()), bins)
