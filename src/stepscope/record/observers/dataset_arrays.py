"""The arrays inside a dataset, with one row for each sample, and some of their values as they were."""

from __future__ import annotations

import math
import weakref
from typing import Any

import torch
from torch.nn.parameter import is_lazy

from stepscope.events.unpatched_torch import raw
from stepscope.record.observers.datasets import base_of
from stepscope.record.observers.fetch import is_far
from stepscope.record.observers.value_sample import can_look

_SAMPLED_ROWS, _SAMPLED_COLUMNS = 256, 16
_LISTED_ROWS = 32
_DEEPEST, _MOST_PARTS, _FEW = 5, 500, 8


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


def bytes_of(value: Any) -> int:
    """About how much memory something holds, judged by a few of its items: a dataset may be a list of samples."""
    return _bytes_of(value, set(), _DEEPEST)


def _bytes_of(value: Any, seen: set[int], depth: int) -> int:
    if isinstance(value, torch.Tensor) or _is_numpy(value):
        return 0 if is_lazy(value) else int(value.nbytes)
    if isinstance(value, (str, bytes, bytearray)):
        return len(value)
    if type(value).__name__ == "DataFrame":  # of pandas or polars
        return 8 * int(math.prod(value.shape))
    if not depth or id(value) in seen or len(seen) >= _MOST_PARTS:
        return 0
    seen.add(id(value))
    if isinstance(value, (list, tuple, dict)):
        items = list(value.values() if isinstance(value, dict) else value)
        some = items if len(items) <= _FEW else [items[0], items[len(items) // 2], items[-1]]
        different = {id(one): one for one in some}.values()
        found = sum([_bytes_of(one, seen, depth - 1) for one in different])
        return 8 * len(items) + (found if some is items else found * len(items) // len(different))
    held: Any = getattr(value, "__dict__", None)
    return sum(_bytes_of(one, seen, depth - 1) for one in held.values()) if type(held) is dict else 0
