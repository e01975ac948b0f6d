"""Several series of a run in one table, for pandas and polars: one column per series, or one row per point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from stepscope.errors import MissingExtra, UsageError
from stepscope.runs.points.align import align
from stepscope.runs.points.series import Series

Shape = Literal["wide", "long"]


def pandas_table(series: Sequence[Series], shape: Shape) -> Any:
    """A DataFrame.

    wide: one row per step, one column per series (the last point at a step), NaN where there is no point.
    long: one row per point, with its name, step, time and value.
    """
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("to_pandas()", "pandas", extra="pandas") from None
    frame = pd.DataFrame(_columns(series, shape))
    if shape == "wide":
        return frame.set_index("step")
    frame["time"] = pd.to_datetime(frame["time"], unit="s", utc=True)
    return frame


def polars_table(series: Sequence[Series], shape: Shape) -> Any:
    """The same for polars, with the step as a column."""
    try:
        import polars as pl
    except ImportError:
        raise MissingExtra("to_polars()", "polars", extra="polars") from None
    frame = pl.DataFrame(_columns(series, shape))
    if shape == "long":
        stamp = pl.from_epoch((pl.col("time") * 1e6).cast(pl.Int64), time_unit="us").dt.replace_time_zone("UTC")
        frame = frame.with_columns(stamp.alias("time"))
    return frame


def _columns(series: Sequence[Series], shape: Shape) -> dict[str, Any]:
    if shape == "wide":
        return wide_columns(series)
    if shape == "long":
        return long_columns(series)
    raise UsageError(f"there is no table shape {shape!r}; expected wide or long")


def wide_columns(series: Sequence[Series]) -> dict[str, Any]:
    """Columns `step` and one per series."""
    aligned = align(series, "outer")
    return {"step": aligned.steps, **{one.name: aligned.values[at] for at, one in enumerate(series)}}


def long_columns(series: Sequence[Series]) -> dict[str, Any]:
    """Columns `name`, `step`, `time` (unix seconds) and `value`."""
    empty = np.empty(0)
    return {
        "name": [one.name for one in series for _ in range(len(one))],
        "step": np.concatenate([one.steps for one in series] or [empty.astype(np.int64)]),
        "time": np.concatenate([one.times for one in series] or [empty]),
        "value": np.concatenate([one.values for one in series] or [empty]),
    }
