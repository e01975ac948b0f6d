"""Which part of a sample is its label, and how often each label comes."""

from __future__ import annotations

from typing import Any

import numpy as np

from stepscope.launch.data.field_stats import Field, as_array
from stepscope.record.lengths import known_length

_NAMES = ("label", "labels", "target", "targets", "y", "class", "class_id", "category")
_MOST = 1000


def label_field(fields: list[Field]) -> Field | None:
    """By its name; else the last part that is one whole number from a short list."""
    single = [one for one in fields if one.values and one.type not in ("str", "bytes")]
    named = [one for one in single if one.path.strip("[]").rpartition(".")[2].lower() in _NAMES]
    few = [one for one in single if 1 < len(one.values) <= max(2, one.count // 2) or len(one.values) == 1]
    return named[-1] if named else few[-1] if few and len(fields) > 1 else None


def whole_histogram(dataset: Any) -> dict[str, int]:
    """Of all samples, where the dataset holds its labels in one array; empty where it does not."""
    labels = _labels(dataset)
    if labels is None or labels.ndim != 1 or not labels.size or labels.dtype.kind not in "biu":
        return {}
    values, counts = np.unique(labels, return_counts=True)
    if len(values) > _MOST:
        return {}
    return {str(int(value)): int(number) for value, number in zip(values, counts, strict=True)}


def _labels(dataset: Any) -> Any:
    indices, inner = getattr(dataset, "indices", None), getattr(dataset, "dataset", None)
    if indices is not None and inner is not None:  # a Subset
        known = _labels(inner)
        return None if known is None else known[np.asarray(indices)]
    tensors = getattr(dataset, "tensors", None)
    if isinstance(tensors, tuple) and len(tensors) > 1:
        return as_array(tensors[-1])
    for name in ("targets", "labels"):
        held = getattr(dataset, name, None)
        if held is not None and hasattr(held, "__len__") and len(held) == known_length(dataset):
            return as_array(list(held) if isinstance(held, tuple) else held)
    return None
