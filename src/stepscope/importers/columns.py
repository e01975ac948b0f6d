"""Points collected by name while a log is read row by row, and returned as whole columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from stepscope.importers.foreign import Columns, WideRow
from stepscope.track.names import as_name

EXACT = 2**53
FULL = 500_000
"""Number of points collected before they are returned: about 50 MB."""


class Gathered:
    """Filled with `add`, emptied by `take`."""

    def __init__(self) -> None:
        self._series: dict[str, tuple[list[int], list[float], list[float]]] = {}
        self._wide: list[WideRow] = []
        self._count = 0

    def add(self, name: str, step: int, time: float, value: int | float) -> None:
        """One point. Integers that do not fit a float64 stay integers."""
        if isinstance(value, int) and not -EXACT <= value <= EXACT:
            self._wide.append(WideRow(step, time, {as_name(name): value if -(2**63) <= value < 2**64 else str(value)}))
            self._count += 1
            return
        lists = self._series.get(name)
        if lists is None:
            lists = self._series[name] = ([], [], [])
        lists[0].append(step)
        lists[1].append(time)
        lists[2].append(value)
        self._count += 1

    @property
    def is_full(self) -> bool:
        return self._count >= FULL

    def take(self) -> Iterator[Columns | WideRow]:
        """The collected points, one piece per series, in order."""
        series, wide = self._series, self._wide
        self._series, self._wide, self._count = {}, [], 0
        for name, (steps, times, values) in series.items():
            yield Columns(
                as_name(name),
                np.array(steps, dtype=np.int64),
                np.array(times, dtype=np.float64),
                np.array(values, dtype=np.float64),
            )
        yield from wide


def as_step(value: Any) -> int | None:
    """A step written by another tool, within 64 bits; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    step = int(value)
    return step if -(2**63) <= step < 2**63 else None
