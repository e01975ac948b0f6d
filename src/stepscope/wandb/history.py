"""A run's history in W&B's form: one row per step, with `_step`, `_timestamp` and `_runtime`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stepscope.runs.read.folder import RunFolder


def names_of(run: RunFolder) -> list[str]:
    """What the script logged, without the system metrics."""
    return [name for name in run.metrics() if not name.startswith("system/")]


def rows_of(run: RunFolder, names: Sequence[str], *, system: bool = False) -> list[dict[str, Any]]:
    """The rows of some series by step; if a name has two values at one step, the later counts."""
    rows: dict[int, dict[str, Any]] = {}
    for name in names:
        series = run.series(name)
        shown = name.removeprefix("system/") if system else name
        for step, time, value in zip(series.steps.tolist(), series.times.tolist(), series.values.tolist(), strict=True):
            row = rows.setdefault(step, {"_step": step, "_timestamp": time})
            row[shown] = value
            row["_timestamp"] = max(row["_timestamp"], time)
    for row in rows.values():
        row["_runtime"] = row["_timestamp"] - run.created
    return [rows[step] for step in sorted(rows)]


def thinned(rows: list[dict[str, Any]], samples: int) -> list[dict[str, Any]]:
    """At most this many rows, evenly spread, always including the last one."""
    if samples < 1 or len(rows) <= samples:
        return rows
    if samples == 1:
        return rows[-1:]
    return [rows[round(at * (len(rows) - 1) / (samples - 1))] for at in range(samples)]
