"""Asking datasets once more when the script is over: is a sample the same twice, does a batch keep labels in place?

Only map-style datasets, a few samples, never a slow one, and never while the script runs: `__getitem__` may draw random
numbers of its own or write to its data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from stepscope.common.own_time import own_time
from stepscope.events.unpatched_torch import raw
from stepscope.record.arguments import tensors_in
from stepscope.record.observers.fetch import here
from stepscope.record.observers.undisturbed import undisturbed
from stepscope.record.observers.value_sample import can_look

if TYPE_CHECKING:
    from stepscope.evidence.loaders import Loader
    from stepscope.record.observers.watcher import Watcher

_SLOW_S = 0.05
_BUSY = 5
"""How many times as long a loader may take on a busy machine."""
_MOST_SLOW = 2
_SAMPLES = 8
_COUNTED, _COUNTING_S = 400, 1.0
_MOST_HELD = 10**6


def may_be_asked(fact: Loader) -> bool:
    """Only where this process has taken samples before, quickly."""
    if fact.workers or not fact.batches:
        return False
    return fact.wait_s / (fact.batches * (fact.batch_size or 1)) < _BUSY * _SLOW_S


class SamplesAgain:
    """Takes samples of datasets again."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self.not_checked: dict[str, str] = {}
        """Group of rules -> what the user's own code raised."""
        self._slow: Counter[int] = Counter()

    def varying(self, dataset: Any) -> int:
        """How many of a few samples come with another first tensor, but the same rest, when they are taken twice."""
        with undisturbed(self._watcher):
            pairs = [(self._taken(dataset, i), self._taken(dataset, i)) for i in self._numbers(dataset)]
        differ = 0
        for first, second in pairs:
            if first is None or second is None or len(first) < 2 or len(first) != len(second):
                return 0
            same_rest = all(_same(one, other) for one, other in zip(first[1:], second[1:], strict=True))
            differ += same_rest and not _same(first[0], second[0])
        return differ

    def drawn(self, dataset: Any, times: int, seconds: float, most: int = _SAMPLES) -> list[list[list[Any]]]:
        """A few samples, each of them taken so many times; fewer when the time is over."""
        found: list[list[list[Any]]] = []
        until = own_time() + seconds
        with undisturbed(self._watcher):  # once: the generators are put back after it, and each draw is another one
            for number in self._numbers(dataset, most):
                draws = [self._taken(dataset, number) for _ in range(times)]
                found.append([one for one in draws if one is not None])
                if own_time() > until:
                    break
        return found

    def labels(self, dataset: Any) -> dict[int, int] | None:
        """How often each class is in a dataset, counted on some hundred samples; None when it has no plain labels."""
        found: Counter[int] = Counter()
        with undisturbed(self._watcher):
            until = own_time() + _COUNTING_S
            for number in self._numbers(dataset, _COUNTED):
                sample = self._taken(dataset, number)
                label = None if sample is None or len(sample) < 2 else _flat(sample[-1])
                if label is None or label.numel() != 1 or float(label) != int(label) or own_time() > until:
                    return None
                found[int(label)] += 1
        return dict(found)

    def are_misplaced(self, dataset: Any, collate: Any) -> bool:
        """Whether the first part of the samples comes in a new order and a later part in the old one."""
        with undisturbed(self._watcher):
            numbers = self._numbers(dataset)
            samples = [sample for i in numbers if (sample := self._taken(dataset, i)) is not None]
            if len(samples) < 4 or len({len(sample) for sample in samples}) != 1 or len(samples[0]) < 2:
                return False
            rows = [self._asked(dataset.__getitem__, i) for i in numbers]
            collated = None if any(row is None for row in rows) else self._asked(collate, rows)
            batch = [tensor for tensor in tensors_in(collated) if tensor.ndim and tensor.shape[0] == len(rows)]
            return _is_misplaced(batch, samples)

    def _asked(self, call: Callable[..., Any], *args: Any) -> Any:
        """What the user's own code answers; None when it raises, which is then said among what could not be checked."""
        try:
            return call(*args)
        except Exception as fault:  # the user's own code may raise anything
            name = getattr(call, "__qualname__", type(call).__name__)
            self.not_checked.setdefault("data", f"{name} raised {type(fault).__name__} when it was asked once more")
            return None

    def _numbers(self, dataset: Any, most: int = _SAMPLES) -> list[int]:
        size = self._asked(dataset.__len__) if hasattr(dataset, "__len__") else None
        return [] if size is None else list(range(0, size, max(1, size // most)))[:most]

    def _taken(self, dataset: Any, number: int) -> list[Any] | None:
        """A sample as a list of its parts; None when it cannot be had quickly."""
        if self._slow[id(dataset)] >= _MOST_SLOW:
            return None
        clock = own_time()
        sample = self._asked(dataset.__getitem__, number)
        if sample is None or own_time() - clock > _SLOW_S:
            self._slow[id(dataset)] += sample is not None
            return None
        parts = list(sample.values()) if isinstance(sample, dict) else list(sample) if _is_row(sample) else [sample]
        return [raw.clone(part) if isinstance(part, torch.Tensor) else part for part in parts]


def labels_held(dataset: Any, seen: set[int]) -> dict[int, int] | None:
    """How often each class is in a dataset that holds its labels as they are."""
    indices: list[int] | None = None
    while dataset is not None and hasattr(dataset, "indices") and hasattr(dataset, "dataset"):
        chosen = list(dataset.indices)
        indices = chosen if indices is None else [chosen[i] for i in indices]
        dataset = dataset.dataset
    if dataset is None or not hasattr(dataset, "__len__"):
        return None
    size = len(dataset)
    for values in reversed([*getattr(dataset, "tensors", ()), *getattr(dataset, "__dict__", {}).values()]):
        labels = _as_labels(values, size)
        if labels is not None and seen <= set(labels) and len(set(labels)) <= max(50, 2 * len(seen)):
            return dict(Counter(labels if indices is None else [labels[i] for i in indices]))
    return None


def _as_labels(values: Any, size: int) -> list[int] | None:
    if not hasattr(values, "__len__") or isinstance(values, (str, dict)) or len(values) != size or size > _MOST_HELD:
        return None
    try:
        tensor = raw.as_tensor(values)
    except (TypeError, ValueError, RuntimeError):  # a list of other things
        return None
    if tensor.numel() != size or tensor.device.type != "cpu":
        return None
    flat = raw.detach(tensor).reshape(-1)
    if flat.is_floating_point() and not bool((flat == flat.round()).all()):
        return None
    labels: list[int] = raw.tolist(raw.to(flat, torch.int64))
    return labels


def _is_row(sample: Any) -> bool:
    return isinstance(sample, (tuple, list))


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.shape == other.shape and raw.equal(one, other)
    if type(one).__module__ == "numpy":
        return bool(one.shape == other.shape and (one == other).all()) if hasattr(one, "shape") else bool(one == other)
    return bool(one == other)


def _is_misplaced(batch: list[Any], samples: list[list[Any]]) -> bool:
    columns = [[_flat(sample[part]) for sample in samples] for part in range(len(samples[0]))]
    orders = [order for tensor in batch if can_look(tensor) for order in [_order(here(tensor), columns[0])] if order]
    moved = next((order for order in orders if order != sorted(order)), None)
    if moved is None:
        return False
    for labels in columns[1:]:
        if any(label is None for label in labels):
            continue
        old = raw.stack([label[:1] for label in labels if label is not None]).reshape(-1)
        new = old[raw.tensor(moved)]
        found = [raw.to(here(t).reshape(-1), old.dtype) for t in batch if t.numel() == len(samples) and can_look(t)]
        if not raw.equal(old, new) and any(raw.equal(t, old) for t in found):
            return not any(raw.equal(t, new) for t in found)
    return False


def _flat(part: Any) -> Any:
    """A part of a sample as a flat tensor of doubles; None when it holds no numbers."""
    try:
        flat = raw.to(here(raw.as_tensor(part)).reshape(-1), torch.float64)
    except (TypeError, ValueError, RuntimeError):  # text, or anything else
        return None
    return flat if flat.numel() else None


def _order(batch: Any, samples: list[Any]) -> list[int] | None:
    """Which sample each row of a batch is (padding behind it allowed); None when that cannot be told."""
    order: list[int] = []
    if any(sample is None for sample in samples):
        return None
    for row in raw.to(raw.detach(batch).reshape(batch.shape[0], -1), torch.float64):
        fits = [i for i, s in enumerate(samples) if s.numel() <= row.numel() and raw.equal(row[: s.numel()], s)]
        longest = max((samples[i].numel() for i in fits), default=0)
        fits = [i for i in fits if samples[i].numel() == longest]
        if len(fits) != 1:
            return None
        order.append(fits[0])
    return order if len(set(order)) == len(order) else None
