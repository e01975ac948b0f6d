"""Several series side by side, a line per step, in blocks of bounded size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from stepscope.runs.read.folder import RunFolder


class WideBlock(NamedTuple):
    """Some rows of the table, as lists: one inner list per series."""

    steps: list[int]
    times: list[float]
    """When the first of the row's points was logged."""
    values: list[list[float]]
    present: list[list[bool]]


def wide_blocks(run: RunFolder, names: Sequence[str], size: int) -> Iterator[WideBlock]:
    """The table of the series. A row is a step and its repetition, so that nothing is overwritten."""
    columns = [run.series(name) for name in names]
    if not columns:
        return
    steps = np.unique(np.concatenate([series.steps for series in columns]))
    again = [_occurrence(series.steps) for series in columns]
    most = 1 + max((int(one.max()) for one in again if len(one)), default=0)
    keys = [np.searchsorted(steps, one.steps) * most + nth for one, nth in zip(columns, again, strict=True)]
    lines = np.unique(np.concatenate(keys))
    places = [np.searchsorted(lines, one) for one in keys]
    for start in range(0, len(lines), size):
        stop = min(start + size, len(lines))
        times = np.full(stop - start, np.inf)
        values, present = [], []
        for series, place in zip(columns, places, strict=True):
            first, last = np.searchsorted(place, (start, stop))
            rows = place[first:last] - start
            column = np.zeros(stop - start)
            there = np.zeros(stop - start, dtype=bool)
            column[rows] = series.values[first:last]
            there[rows] = True
            times[rows] = np.minimum(times[rows], series.times[first:last])
            values.append(column.tolist())
            present.append(there.tolist())
        yield WideBlock(steps[lines[start:stop] // most].tolist(), times.tolist(), values, present)


def _occurrence(steps: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """For sorted steps: the number of equal ones before each."""
    return np.arange(len(steps)) - np.searchsorted(steps, steps, side="left")
