"""Precision-recall curves: counts and rates at even thresholds become a Stepscope curve."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from stepscope.errors import BadData
from stepscope.eventfiles.tensors import Tensor
from stepscope.records import Media


@np.errstate(all="ignore")
def pr_record(tensor: Tensor, key: str, step: int, time: float) -> tuple[Media, bytes]:
    """The curve in six rows: true and false positives, true and false negatives, precision, recall.

    Without positive predictions there is no precision, hence no point; the curve begins at recall 0.
    """
    if tensor.ndim != 2 or tensor.shape[0] != 6 or tensor.shape[1] == 0 or tensor.dtype.kind not in "fiu":
        raise BadData(f"a precision-recall curve of shape {tensor.shape}; expected (6, thresholds)")
    rows = tensor.astype(np.float64)
    hits, alarms, quiet, misses, precision, recall = rows
    marks = np.arange(rows.shape[1]) / max(rows.shape[1] - 1, 1)
    kept = np.flatnonzero((hits + alarms > 0) & np.isfinite(precision) & np.isfinite(recall))[::-1]
    area = float((np.diff(np.concatenate(([0.0], recall[kept]))) * precision[kept]).sum()) if len(kept) else None
    curve: dict[str, Any] = {
        "label": "1",
        "positives": _whole(hits[0] + misses[0]),
        "negatives": _whole(alarms[0] + quiet[0]),
        "area": area,
        "x": [0.0, *recall[kept].tolist()] if len(kept) else [],
        "y": [1.0, *precision[kept].tolist()] if len(kept) else [],
        "thresholds": [None, *marks[kept].tolist()] if len(kept) else [],
    }
    meta = {"curve": "pr", "labels": ["1"], "area": [area]}
    record = Media(key=key, step=step, time=time, kind="curve", mime="application/json", meta=meta)
    return record, msgspec.json.encode({"curves": [curve]})


def _whole(value: float) -> float | int | None:
    number = float(value)
    return int(number) if number.is_integer() else number if np.isfinite(number) else None
