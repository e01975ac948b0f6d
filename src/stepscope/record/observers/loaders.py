"""Follows every DataLoader: when it is made and looped over, its batches, and how long the script waits for them."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import torch

from stepscope.common import clocks
from stepscope.evidence.loaders import Loader, Loaders
from stepscope.evidence.origins import DATA
from stepscope.record.arguments import tensors_in
from stepscope.record.observers.datasets import Datasets, beginning_of
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.origin import LiveOrigin
from stepscope.record.observers.own_frames import is_own_file, own_place

if TYPE_CHECKING:
    from stepscope.evidence.steps import Backward
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place


class LiveLoader(Loader):
    """A DataLoader that may still be there."""

    __slots__ = ("_collate", "_data", "_last", "_of_pass", "_ref")

    def __init__(self, loader: Any, number: int, place: Place | None, step: int) -> None:
        super().__init__(number, place, step)
        self._ref = weakref.ref(loader)
        self._data = _weakly(getattr(loader, "dataset", None))
        """Gives the dataset; it may outlive the loader, and be gone."""
        self._collate = _weakly(getattr(loader, "collate_fn", None))
        self._last = 0.0
        self._of_pass = 0
        self.dataset = type(getattr(loader, "dataset", None)).__name__
        self.sampler = type(getattr(loader, "sampler", None)).__name__
        self.batch_size = _whole(getattr(loader, "batch_size", None))
        self.drop_last = bool(getattr(loader, "drop_last", False))
        self.workers = _whole(getattr(loader, "num_workers", 0)) or 0
        self.persistent = bool(getattr(loader, "persistent_workers", False))
        self.worker_init = beginning_of(getattr(loader, "worker_init_fn", None))
        self.collate = beginning_of(getattr(loader, "collate_fn", None))

    @property
    def live(self) -> Any:
        """The loader itself; None when it is gone."""
        return self._ref()

    def count(self, wait_s: float, cpu_s: float, own_s: float) -> None:
        """One more batch, after waiting so long for it. `own_s` is what we have cost so far: not the script's time."""
        now = clocks.perf_counter() - own_s
        self.batches += 1
        self.wait_s += wait_s
        self._of_pass += 1
        if self._of_pass > 2:
            self.steady_batches += 1
            self.steady_wait_s += wait_s
            self.steady_wait_cpu_s += cpu_s
            self.steady_turn_s += now - self._last
            self.steady_longest = max(self.steady_longest, (wait_s, now - self._last, cpu_s))
        self._last = now

    def begin_pass(self) -> None:
        self.epochs += 1
        self._of_pass = 0


def live(record: Loader | None) -> Any:
    """The loader of a record, for observers; None when it is gone."""
    return record.live if isinstance(record, LiveLoader) else None


def live_data(record: Loader | None) -> Any:
    """Its dataset; None when that is gone."""
    return record._data() if isinstance(record, LiveLoader) else None


def live_collate(record: Loader | None) -> Any:
    """Its collate function; None when that is gone."""
    return record._collate() if isinstance(record, LiveLoader) else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _length(value: Any) -> int | None:
    """What it says its length is; None where it does not know."""
    try:
        return len(value)
    except (TypeError, NotImplementedError, AttributeError, ValueError):
        return None


def _weakly(value: Any) -> Any:
    try:
        return weakref.ref(value)
    except TypeError:  # a list has no weak references; looking at it through the loader is still possible
        return lambda: None


class LoaderObserver(Observer, Loaders):
    steady = True

    def __init__(self, watcher: Watcher) -> None:
        Loaders.__init__(self)
        super().__init__(watcher)
        self._datasets = Datasets()
        self._known: weakref.WeakKeyDictionary[Any, LiveLoader] = weakref.WeakKeyDictionary()
        self._passes: weakref.WeakKeyDictionary[Any, LiveLoader] = weakref.WeakKeyDictionary()
        self._counted = -1
        self._asked_own_s = 0.0

    def of(self, loader: Any) -> LiveLoader | None:
        return self._known.get(loader)

    def backward(self, backward: Backward, roots: list[Any]) -> None:
        if self.current is not None and self._counted != self.batches:
            self._counted = self.batches
            self.current.trains += 1

    def made(self, loader: Any, frame: Any) -> None:
        """A DataLoader was made."""
        if loader not in self._known:
            place = own_place(frame)
            self._add(loader, None if place is None or not is_own_file(place.file) else place)

    def _add(self, loader: Any, place: Place | None) -> LiveLoader:
        fact = self._known[loader] = LiveLoader(loader, len(self.all), place, self.watcher.step)
        fact.data = self._datasets.of(getattr(loader, "dataset", None))
        self.all.append(fact)
        return fact

    def pass_began(self, loader: Any, iterator: Any, frame: Any) -> None:
        """It is looped over."""
        fact = self._known.get(loader) or self._add(loader, None)
        fact.iterated, fact.told = own_place(frame), self.watcher.trainer.stage
        fact.begin_pass()
        self._passes[iterator] = fact
        self.watcher.new_epoch(fact)

    def delivered(self, iterator: Any, batch: Any, wait_s: float, cpu_s: float) -> None:
        """It has given a batch."""
        fact = self._passes.get(iterator)
        if fact is None:
            return
        watcher = self.watcher
        self.batches += 1
        watcher.batches = self.batches
        if watcher.governor.is_deep:
            watcher.batch_came()
        self.current = fact
        ours = watcher.tensor_history.cost_s + watcher.asking_s
        fact.count(wait_s - (ours - self._asked_own_s), cpu_s - (ours - self._asked_own_s), ours)
        trail = self.watcher.tensor_history
        if trail.on:
            with torch._C.DisableTorchFunction():
                for tensor in tensors_in(batch):
                    made = trail.known(tensor)
                    origin = LiveOrigin("", tensor, () if made is None else (made,), fact.iterated)
                    origin.kind, origin.tags, origin.loader = "data", origin.tags | DATA, fact
                    trail.note(tensor, origin)
        self.watcher.tell("batch", fact, batch)

    def asked(self, iterator: Any) -> None:
        """What of the wait is ours is not the script's."""
        self._asked_own_s = self.watcher.tensor_history.cost_s + self.watcher.asking_s

    def exhausted(self, iterator: Any) -> None:
        """It has no more batches."""
        fact = self._passes.pop(iterator, None)
        if fact is not None:
            fact.finished += 1
            if not fact.batches:
                fact.samples = _length(getattr(fact.live, "dataset", None))
            self.watcher.tell("epoch_done", fact)
            self.watcher.epoch_over()

    def settle(self) -> None:
        """How long are those of which only first batches are taken? No other is asked: a length may draw numbers."""
        for fact in self.all:
            if fact.length is None and fact.epochs > 1 and fact.batches <= fact.epochs and not fact.finished:
                fact.length = _length(live(fact))
