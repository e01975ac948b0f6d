"""A run as MLflow stores it, in either kind of store."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlparse

import numpy as np

from stepscope.importers.columns import as_step
from stepscope.importers.foreign import Columns
from stepscope.track.names import as_name

_LARGEST = sys.float_info.max
_METERS = {
    "cpu_utilization_percentage": "cpu_percent",
    "system_memory_usage_percentage": "memory_percent",
    "disk_usage_percentage": "disk_percent",
}
_GPU_METERS = {
    "utilization_percentage": "use_percent",
    "memory_usage_percentage": "memory_percent",
    "power_usage_watts": "power_w",
}
_GPU = re.compile(r"system/gpu_(\d+)_(.+)")


@dataclass
class StoredRun:
    """Times are unix seconds; `status` is MLflow's."""

    id: str
    name: str
    experiment: str
    status: str
    start: float
    end: float | None
    user: str = ""
    params: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    artifacts: str = ""
    """Their location according to MLflow."""
    beside: Path | None = None
    """Their location if the whole folder was moved."""


class Store(Protocol):
    """A file store or a database."""

    def runs(self) -> Iterator[StoredRun]: ...

    def metrics(self, run: StoredRun, cursor: Any) -> Iterator[Columns]:
        """The points since `cursor`, one piece per metric."""

    def cursor(self, run: StoredRun) -> Any: ...

    def troubles(self) -> list[str]: ...


def columns_of(key: str, rows: Sequence[tuple[float, float, Any]]) -> Columns:
    """Points of one metric from (milliseconds, value, step). In a database the largest float means infinity."""
    times = np.array([row[0] for row in rows], dtype=np.float64) / 1000
    values = np.array([row[1] for row in rows], dtype=np.float64)
    values[values == _LARGEST] = np.inf
    values[values == -_LARGEST] = -np.inf
    steps = np.array([as_step(row[2]) or 0 for row in rows], dtype=np.int64)
    return Columns(_series(as_name(key)), steps, times, values)


def _series(key: str) -> str:
    """Machine metrics under Stepscope's names, where they mean the same."""
    meter = _METERS.get(key.removeprefix("system/")) if key.startswith("system/") else None
    if meter is not None:
        return f"system/{meter}"
    gpu = _GPU.fullmatch(key)
    return key if gpu is None else f"system/gpu{gpu[1]}/{_GPU_METERS.get(gpu[2], gpu[2])}"


def local_path(uri: str) -> Path | None:
    """The folder an artifact URI refers to; None if it is elsewhere (a bucket, a server)."""
    parts = urlparse(uri)
    if parts.scheme == "file":
        return Path(unquote(parts.path))
    if len(parts.scheme) > 1:
        return None
    return Path(uri) if uri else None
