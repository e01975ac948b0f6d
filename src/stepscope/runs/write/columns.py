"""Whole columns of points as chunks: how imported data enters a run, with its own times."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from stepscope.errors import UsageError
from stepscope.records import FileHeader
from stepscope.runs.format.chunks import CHUNK_POINTS, encode_chunk


def chunks_of(
    header: FileHeader, name: str, steps: npt.ArrayLike, times: npt.ArrayLike, values: npt.ArrayLike
) -> Iterator[tuple[int, bytes]]:
    """The points of one series as `CHUNK` payloads, each with its number of points."""
    step_array = np.asarray(steps, dtype=np.int64)
    time_array = np.asarray(times, dtype=np.float64)
    value_array = np.asarray(values, dtype=np.float64)
    if not step_array.shape == time_array.shape == value_array.shape or value_array.ndim != 1:
        raise UsageError(f"{name}: steps, times and values must be columns of equal length")
    for start in range(0, len(value_array), CHUNK_POINTS):
        part = slice(start, start + CHUNK_POINTS)
        yield (
            len(value_array[part]),
            encode_chunk(
                name,
                step_array[part],
                time_array[part],
                value_array[part],
                attempt=header.attempt,
                rank=header.rank,
                role=header.role,
                base_time=float(np.floor(time_array[start])) if np.isfinite(time_array[start]) else None,
            ),
        )
