"""Deliveries: what each loader hands out, epoch by epoch, and whether its dataset's own arrays change meanwhile."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import torch

from stepscope.events.pristine import raw
from stepscope.events.quiet import quietly
from stepscope.record.arguments import tensors_in
from stepscope.record.watch.fetch import here, is_far
from stepscope.record.watch.looks import Allowance, can_look, labels_in, row_marks
from stepscope.record.watch.witness import Witness

if TYPE_CHECKING:
    from stepscope.record.watch.loaders import Loader
    from stepscope.record.watch.watcher import Watcher

__all__ = ["Deliveries", "Delivery", "arrays_of", "base_of"]

_EPOCHS = 6
_BATCHES = 3
_MOST_LABELS = 30_000
_ARRAYS = 6
_SAMPLED_ROWS, _SAMPLED_COLUMNS = 256, 16
_LISTED_ROWS = 32
_CHANGES = 16
_WATCHED_BATCHES = 200
_KEEP_BYTES = 64 * 2**20
_KEEP = 12


class Delivery:
    """What one loader has handed out."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader
        self.batches = 0
        self.shapes: list[tuple[int, ...]] = []
        """Of the first batch's tensors."""
        self.heads: list[list[list[int]]] = []
        """By epoch (the first six): marks of the rows of its first three batches."""
        self.head_labels: list[list[list[int] | None]] = []
        self.labels: list[list[int]] = []
        """The labels of the first epoch, batch by batch."""
        self.labelled = 0
        self.changed: dict[tuple[str, int], set[int]] = {}
        """(array of the dataset, row) -> the epochs in which handing it out changed it."""
        self.arrays: list[_Array] = []
        self.dataset: Any = None
        """The dataset, kept when it is small, to be asked once more when the script is over."""
        self.collate: Any = None
        """Its collate function, beside it."""


class _Array:
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


class Deliveries(Witness):
    """`run.deliveries`"""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__(watcher)
        self.all: list[Delivery] = []
        self._by_loader: dict[int, Delivery] = {}
        self._allowance = Allowance(0.25)
        self._datasets: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()

    def of(self, loader: Loader) -> Delivery | None:
        return self._by_loader.get(loader.number)

    def finish(self) -> None:
        for delivery in self.all:
            delivery.arrays = []

    def batch(self, loader: Loader, batch: Any) -> None:
        delivery = self._by_loader.get(loader.number)
        if delivery is None:
            delivery = self._by_loader[loader.number] = Delivery(loader)
            self.all.append(delivery)
            self._first(delivery, batch)
        delivery.batches += 1
        if not self._allowance.left():
            return
        with self._allowance, quietly():
            tensors = tensors_in(batch)
            self._note(delivery, tensors)
            if delivery.arrays and delivery.batches <= _WATCHED_BATCHES:
                self._compare(delivery, tensors)

    def _first(self, delivery: Delivery, batch: Any) -> None:
        delivery.shapes = [tuple(tensor.shape) for tensor in tensors_in(batch)]
        dataset = delivery.loader.data()
        if dataset is None or not hasattr(dataset, "__getitem__"):
            return
        arrays = arrays_of(dataset)
        if sum(1 for one in self.all if one.dataset is not None) < _KEEP and _bytes_of(arrays) <= _KEEP_BYTES:
            delivery.dataset, delivery.collate = dataset, delivery.loader.collate()
        if not delivery.loader.workers:
            floats = [(name, rows) for name, rows in arrays if _is_data(rows)]
            base = base_of(dataset)
            delivery.arrays = [_Array(base, name) for name, rows in floats[:_ARRAYS]]

    def _note(self, delivery: Delivery, tensors: list[Any]) -> None:
        epoch = delivery.loader.epochs
        labels = next((found for t in reversed(tensors[1:]) if (found := labels_in(t)) is not None), None)
        if epoch <= 1 and labels is not None and delivery.labelled < _MOST_LABELS:
            delivery.labels.append(labels)
            delivery.labelled += len(labels)
        if epoch > _EPOCHS or not tensors or not can_look(tensors[0]) or tensors[0].ndim == 0:
            return
        while len(delivery.heads) < epoch:
            delivery.heads.append([])
            delivery.head_labels.append([])
        if len(delivery.heads[epoch - 1]) < _BATCHES:
            delivery.heads[epoch - 1].append(row_marks(tensors[0]))
            delivery.head_labels[epoch - 1].append(labels)

    def _compare(self, delivery: Delivery, tensors: list[Any]) -> None:
        """Which sampled rows of the dataset have changed, and are now what was handed out?"""
        for array in delivery.arrays:
            before, now = array.before, array.now()
            array.before = now
            if before is None or now is None or before.shape != now.shape or raw.equal(before, now):
                continue
            # Rows that were empty until now: a cache that is being filled.
            empty = before.eq(0).all(1) | before.isnan().all(1)
            places = raw.tolist(((before != now).any(1) & ~empty & ~now.isnan().any(1)).nonzero().reshape(-1))
            rows = array.rows()
            for number in [place * array.step for place in places[:_CHANGES]]:
                if _among(raw.as_tensor(rows[number]), tensors):
                    delivery.changed.setdefault((array.name, number), set()).add(delivery.loader.epochs)


def _among(row: Any, tensors: list[Any]) -> bool:
    """Whether a row is one of those in a batch."""
    for tensor in tensors:
        if tensor.ndim == row.ndim + 1 and tensor.shape[1:] == row.shape and can_look(tensor):
            same = (here(tensor) == raw.to(row, tensor.dtype)).reshape(tensor.shape[0], -1).all(1)
            if bool(raw.item(same.any())):
                return True
    return False


def base_of(dataset: Any) -> Any:
    """The dataset behind subsets of it."""
    for _ in range(8):
        inner = getattr(dataset, "dataset", None)
        if inner is None or not hasattr(inner, "__getitem__"):
            break
        dataset = inner
    return dataset


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


def _is_data(rows: Any) -> bool:
    """Values a sample could be made of, and that could be written to: numbers with a fraction, or pixels."""
    first = rows[0] if isinstance(rows, list) else rows
    if isinstance(first, torch.Tensor):
        return first.is_floating_point() or first.dtype is torch.uint8
    return bool(first.dtype.kind == "f" or (first.dtype.kind == "u" and first.dtype.itemsize == 1))


def _bytes_of(arrays: list[tuple[str, Any]]) -> int:
    total = 0
    for _, rows in arrays:
        one = rows[0] if isinstance(rows, list) else rows
        total += int(one.nbytes) * (len(rows) if isinstance(rows, list) else 1)
    return total
