"""Columns of numbers as a sheet: sorted, with unknown values as None, and no Python object made before the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Check, Column, Sheet, Unit

Values = npt.NDArray[Any]
Filled = tuple[Column, "Values | Sequence[Any]"]


def column(
    key: str, label: str, values: Values | Sequence[Any], unit: Unit = "text", help: str = "", *,
    hidden: bool = False, sums: bool = False,
) -> Filled:  # fmt: skip
    """A column and its values. NaN in a column of floats is unknown."""
    return Column(key=key, label=label, unit=unit, help=help, hidden=hidden, sums=sums), values


def share(part: Values, whole: float) -> Values:
    """Each of the parts as a share of the whole; unknown where there is no whole.

    >>> share(np.array([1, 3]), 4).tolist(), share(np.array([1]), 0).tolist()
    ([0.25, 0.75], [nan])
    """
    return np.asarray(part / whole if whole else np.full(len(part), np.nan))


def mean(total: Values, count: Values) -> Values:
    """total / count, unknown where nothing was counted."""
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def named(trace: Trace, indexes: Values) -> list[str | None]:
    """The names of these indexes; None for -1."""
    names = trace.events.names
    return [names[i] if i >= 0 else None for i in indexes.tolist()]


def sheet_of(
    id: str,
    title: str,
    columns: Sequence[Filled],
    *,
    sort: str = "",
    checks: Sequence[Check] = (),
    notes: Sequence[str] = (),
    then: str = "",
) -> Sheet:
    """The sheet, its rows in order of the column `sort` (and then of `then`), largest first."""
    order: Values | None = None
    by_key = {described.key: values for described, values in columns}
    if sort:
        keys = [np.nan_to_num(np.asarray(by_key[key], float), nan=-1.0) for key in (then or sort, sort)]
        order = np.lexsort([-key for key in keys])
    lists = [_cells(values, order) for _, values in columns]
    return Sheet(
        id=id,
        title=title,
        columns=[described for described, _ in columns],
        rows=[list(row) for row in zip(*lists, strict=True)],
        sort=sort,
        checks=list(checks),
        notes=list(notes),
    )


def _cells(values: Values | Sequence[Any], order: Values | None) -> list[Any]:
    if isinstance(values, np.ndarray):
        values = values if order is None else values[order]
        found = values.tolist()
        if values.dtype.kind == "f" and np.isnan(values).any():
            return [None if value != value else value for value in found]
        return list(found)
    return list(values) if order is None else [values[i] for i in order.tolist()]
