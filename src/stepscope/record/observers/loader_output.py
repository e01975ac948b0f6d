"""Looks at what loaders hand out, and at their datasets: arrays meanwhile, samples when the script is over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.loader_output import Delivery, LoaderOutput
from stepscope.record.arguments import tensors_in
from stepscope.record.observers.dataset_arrays import Array, arrays_of, bytes_of, is_data
from stepscope.record.observers.datasets import base_of
from stepscope.record.observers.fetch import here
from stepscope.record.observers.loaders import live, live_collate, live_data
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.repeated_samples import SamplesAgain, labels_held, may_be_asked
from stepscope.record.observers.value_sample import Allowance, can_look, labels_in, row_marks

if TYPE_CHECKING:
    from stepscope.evidence.loaders import Loader
    from stepscope.record.observers.watcher import Watcher

_EPOCHS = 6
_BATCHES = 3
_MOST_LABELS = 30_000
_FEWEST_LABELS = 40
_ARRAYS = 6
_CHANGES = 16
_WATCHED_BATCHES = 200
_KEEP_BYTES = 64 * 2**20
_KEEP = 12


class LiveDelivery(Delivery):
    """What a loader hands out, and the dataset it comes from."""

    __slots__ = ("_arrays", "_classes", "_collate", "_dataset", "_epoch")

    def __init__(self, loader: Loader) -> None:
        super().__init__(loader)
        self._arrays: list[Array] = []
        self._dataset: Any = None
        """The dataset, kept when it is small, to be asked once more when the script is over."""
        self._collate: Any = None
        """Its collate function, beside it."""
        self._epoch = 0
        """Its pass that was last counted."""
        self._classes = 0
        """How many had been seen when the labels of the dataset were counted."""


class LoaderOutputObserver(Observer, LoaderOutput):
    def __init__(self, watcher: Watcher) -> None:
        LoaderOutput.__init__(self)
        super().__init__(watcher)
        self._by_loader: dict[int, LiveDelivery] = {}
        self._by_data: dict[int, LiveDelivery] = {}
        """The first delivery from each dataset: a loader that is made again every epoch continues with it."""
        self._passes: dict[int, int] = {}
        """By the number of a first delivery's loader: how many passes loaders of its dataset have begun."""
        self._allowance = Allowance(0.25)

    def finish(self) -> None:
        for delivery in self._by_loader.values():
            delivery._arrays = []

    def batch(self, loader: Loader, batch: Any) -> None:
        delivery = self._by_loader.get(loader.number)
        if delivery is None:
            delivery = self._by_loader[loader.number] = LiveDelivery(loader)
            self.all.append(delivery)
            self._first(delivery, batch)
        delivery.batches += 1
        if not self._allowance.left():
            return
        with self._allowance, quietly():
            tensors = tensors_in(batch)
            self._note(delivery, tensors)
            first = self._first_of(delivery)
            if first._arrays and delivery.batches <= _WATCHED_BATCHES:
                self._compare(first, tensors)

    def _first_of(self, delivery: LiveDelivery) -> LiveDelivery:
        """The first delivery from the same dataset; counts the passes over it."""
        data = delivery.loader.data
        first = delivery if data is None else self._by_data.setdefault(data.number, delivery)
        if delivery.loader.epochs != delivery._epoch:
            delivery._epoch = delivery.loader.epochs
            self._passes[first.loader.number] = self._passes.get(first.loader.number, 0) + 1
        return first

    def _first(self, delivery: LiveDelivery, batch: Any) -> None:
        delivery.shapes = [tuple(tensor.shape) for tensor in tensors_in(batch)]
        dataset = live_data(delivery.loader)
        if dataset is None or not hasattr(dataset, "__getitem__"):
            return
        arrays = arrays_of(dataset)
        weights = getattr(getattr(live(delivery.loader), "sampler", None), "weights", None)
        if weights is not None and hasattr(weights, "__len__") and hasattr(dataset, "__len__"):
            delivery.weights, delivery.rows = len(weights), len(dataset)
        kept = sum(1 for one in self._by_loader.values() if one._dataset is not None)
        if kept < _KEEP and bytes_of(dataset) <= _KEEP_BYTES:
            delivery._dataset, delivery._collate = dataset, live_collate(delivery.loader)
        if not delivery.loader.workers and self._first_of(delivery) is delivery:
            floats = [(name, rows) for name, rows in arrays if is_data(rows)]
            base = base_of(dataset)
            delivery._arrays = [Array(base, name) for name, rows in floats[:_ARRAYS]]

    def _note(self, delivery: LiveDelivery, tensors: list[Any]) -> None:
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

    def _compare(self, delivery: LiveDelivery, tensors: list[Any]) -> None:
        """Which sampled rows of the dataset have changed, and now equal the delivered rows?"""
        for array in delivery._arrays:
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
                    delivery.changed.setdefault((array.name, number), set()).add(self._passes[delivery.loader.number])

    def settle(self) -> None:
        for delivery in self._by_loader.values():
            classes = {label for batch in delivery.labels for label in batch} if _is_weighed(delivery) else set()
            if classes and len(classes) != delivery._classes:
                delivery._classes = len(classes)
                kept = delivery._dataset if delivery._dataset is not None else live_data(delivery.loader)
                found = labels_held(kept, classes)
                delivery.own_labels = delivery.own_labels if found is None else found

    def experiment(self) -> None:
        again = SamplesAgain(self.watcher)
        trained = any(fact.is_training for fact in self.watcher.loaders.all)
        for delivery in self._by_loader.values():
            fact, dataset = delivery.loader, delivery._dataset
            if dataset is None or not may_be_asked(fact):
                continue
            trains = self.watcher.batches_fed.trains_on(fact)
            if trained and not trains and delivery.is_supervised and delivery.other_samples is None:
                delivery.varying = again.varying(dataset)
            if trains and _is_weighed(delivery) and delivery.own_labels is None:
                delivery.own_labels = again.labels(dataset)
            if fact.collate is not None and delivery._collate is not None and fact.batch_size is not None:
                delivery.misplaced = again.are_misplaced(dataset, delivery._collate)
        self.not_checked.update(again.not_checked)


def _is_weighed(delivery: Delivery) -> bool:
    return delivery.loader.sampler == "WeightedRandomSampler" and delivery.labelled >= _FEWEST_LABELS


def _among(row: Any, tensors: list[Any]) -> bool:
    """Whether a row is one of those in a batch."""
    for tensor in tensors:
        if tensor.ndim > row.ndim and tensor[:1].numel() == row.numel() and can_look(tensor):
            flat = here(tensor).reshape(tensor.shape[0], -1)
            same = (flat == raw.to(row, tensor.dtype).reshape(1, -1)).all(1)
            if bool(raw.item(same.any())):
                return True
    return False
