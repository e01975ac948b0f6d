"""The arrays inside a dataset, with one row for each sample, and some of their values as they were."""

from __future__ import annotations

import weakref
from typing import Any

import torch

from stepscope.events.unpatched_torch import raw
from stepscope.record.observers.datasets import base_of
from stepscope.record.observers.fetch import is_far
from stepscope.record.observers.value_sample import can_look

_SAMPLED_ROWS, _SAMPLED_COLUMNS = 256, 16
_LISTED_ROWS = 32


class Array:
    """Some values of an array inside a dataset, as they were. The array is reached through its dataset, weakly."""

    def __init__(self, dataset: Any, name: str) -> None:
        self.name = name
        self._dataset = weakref.ref(dataset)
        self.step = 1
        self.before = self.now()

    def rows(self) -> Any:
        dataset = self._dataset()
        return None if dataset is None else dict(arrays_of(dataset)).get(self.name)

    def now(self) -> Any:
        """Some values of some rows, as one table; None when the array is gone or its rows differ in size."""
        rows = self.rows()
        if rows is None:
            return None
        if isinstance(rows, list):
            self.step = max(1, len(rows) // _LISTED_ROWS)
            some = [_some_columns(raw.as_tensor(row)[None]) for row in rows[:: self.step]]
            return raw.cat(some) if len({row.shape for row in some}) == 1 else None
        self.step = max(1, len(rows) // _SAMPLED_ROWS)
        return _some_columns(raw.as_tensor(rows[:: self.step]))


def _some_columns(table: Any) -> Any:
    flat = raw.detach(table).reshape(table.shape[0], -1)
    return raw.clone(flat[:, :: max(1, flat.shape[1] // _SAMPLED_COLUMNS)][:, :_SAMPLED_COLUMNS])


def arrays_of(dataset: Any) -> list[tuple[str, Any]]:
    """Arrays with one row for each sample that a dataset holds: tensors, numpy arrays, lists of either."""
    dataset = base_of(dataset)
    try:
        size = len(dataset)
        held = dict(vars(dataset))
    except TypeError:  # no length, or no attributes: nothing we could look at
        return []
    for number, tensor in enumerate(getattr(dataset, "tensors", ()) or ()):
        held[f"tensors[{number}]"] = tensor
    return [(name, value) for name, value in held.items() if size and _has_rows(value, size)]


def _has_rows(value: Any, size: int) -> bool:
    if isinstance(value, torch.Tensor):
        return bool(value.ndim) and value.shape[0] == size and can_look(value) and not is_far(value)
    if _is_numpy(value):
        return bool(value.ndim) and value.shape[0] == size and value.dtype.kind in "fiub"
    if isinstance(value, list):
        first = value[0] if len(value) == size else None
        return (isinstance(first, torch.Tensor) and can_look(first) and not is_far(first)) or (
            first is not None and _is_numpy(first) and first.dtype.kind in "fiu"
        )
    return False


def _is_numpy(value: Any) -> bool:
    return type(value).__module__ == "numpy" and type(value).__name__ == "ndarray"


def is_data(rows: Any) -> bool:
    """Values a sample could be made of, and that could be written to: numbers with a fraction, or pixels."""
    first = rows[0] if isinstance(rows, list) else rows
    if isinstance(first, torch.Tensor):
        return first.is_floating_point() or first.dtype is torch.uint8
    return bool(first.dtype.kind == "f" or (first.dtype.kind == "u" and first.dtype.itemsize == 1))


def bytes_of(arrays: list[tuple[str, Any]]) -> int:
    total = 0
    for _, rows in arrays:
        one = rows[0] if isinstance(rows, list) else rows
        total += int(one.nbytes) * (len(rows) if isinstance(rows, list) else 1)
    return total
