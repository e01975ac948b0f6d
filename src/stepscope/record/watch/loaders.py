"""Loaders: every DataLoader, what it delivers, and how long the script waits for it."""

from __future__ import annotations

import sys
import time
import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import DataLoader

from stepscope import fence
from stepscope.record.arguments import tensors_in
from stepscope.record.watch.origin import DATA, Origin
from stepscope.record.watch.places import is_own, own_place
from stepscope.record.watch.witness import Witness

if TYPE_CHECKING:
    from stepscope.events import Installed
    from stepscope.record.sites import Place
    from stepscope.record.watch.steps import Backward
    from stepscope.record.watch.watcher import Watcher

__all__ = ["Loader", "Loaders"]


class Loader:
    """One DataLoader."""

    def __init__(self, loader: Any, number: int, place: Place | None, step: int) -> None:
        self.ref = weakref.ref(loader)
        self.number = number
        self.made = place
        """Where it was made."""
        self.made_at_step = step
        self.iterated: Place | None = None
        """Where it is looped over."""
        self.epochs = 0
        """How often iteration began."""
        self.finished = 0
        """How often it ended by itself."""
        self.batches = 0
        self.wait_s = 0.0
        self.steady_batches = 0
        """Batches but the first two of each pass (workers start then), with the time waited for them and the whole
        time from one batch to the next."""
        self.steady_wait_s = 0.0
        self.steady_turn_s = 0.0
        self.steady_wait_cpu_s = 0.0
        """Of the wait, what this thread has computed itself: on a busy machine a wait says little, work does."""
        self.steady_longest = (0.0, 0.0, 0.0)
        """Wait, turn and own work of the batch waited for longest: one stall says nothing of the others."""
        self._last = 0.0
        self._of_pass = 0
        self.told: str | None = None
        """What a trainer said it was for when it was last looped over: training, validation, test."""
        self.trains = 0
        """How many of its batches were followed by a backward before the next batch of any loader."""
        self.data = _weakly(getattr(loader, "dataset", None))
        """Gives the dataset; it may outlive the loader, and be gone."""
        self.collate = _weakly(getattr(loader, "collate_fn", None))
        self.dataset = type(getattr(loader, "dataset", None)).__name__
        self.sampler = type(getattr(loader, "sampler", None)).__name__
        self.batch_size = getattr(loader, "batch_size", None)
        self.drop_last = bool(getattr(loader, "drop_last", False))
        self.workers = getattr(loader, "num_workers", 0)

    def count(self, wait_s: float, cpu_s: float, own_s: float) -> None:
        """One more batch, after waiting so long for it. `own_s` is what we have cost so far: not the script's time."""
        now = time.perf_counter() - own_s
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

    @property
    def loader(self) -> Any:
        return self.ref()

    @property
    def is_training(self) -> bool:
        return self.trains > 0


def _weakly(value: Any) -> Any:
    try:
        return weakref.ref(value)
    except TypeError:  # a list has no weak references; looking at it through the loader is still possible
        return lambda: None


class Loaders(Witness):
    """`run.loaders`"""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__(watcher)
        self.all: list[Loader] = []
        self.current: Loader | None = None
        """The one that delivered last."""
        self.batches = 0
        self._known: weakref.WeakKeyDictionary[Any, Loader] = weakref.WeakKeyDictionary()
        self._counted = -1

    def install(self, installed: Installed) -> None:
        witness = self
        make, start = DataLoader.__init__, DataLoader.__iter__

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            make(self, *args, **kwargs)
            witness._made(self, sys._getframe(1))

        def __iter__(self: Any) -> Any:
            iterator = start(self)
            if not witness.watcher.listens():
                return iterator
            fact = witness._started(self, sys._getframe(1))
            return iterator if fact is None else _Watched(iterator, fact, witness)

        __init__.__wrapped__, __init__.__doc__ = make, make.__doc__  # type: ignore[attr-defined]
        __iter__.__wrapped__ = start  # type: ignore[attr-defined]
        installed.patch(DataLoader, "__init__", __init__)
        installed.patch(DataLoader, "__iter__", __iter__)

    def of(self, loader: Any) -> Loader | None:
        return self._known.get(loader)

    def backward(self, backward: Backward, roots: list[Any]) -> None:
        if self.current is not None and self._counted != self.batches:
            self._counted = self.batches
            self.current.trains += 1

    @fence.fenced("following a data loader")
    def _made(self, loader: Any, frame: Any) -> None:
        if self.watcher.listens() and loader not in self._known:
            place = own_place(frame)
            self._add(loader, None if place is None or not is_own(place[0]) else place)

    def _add(self, loader: Any, place: Place | None) -> Loader:
        fact = self._known[loader] = Loader(loader, len(self.all), place, self.watcher.step)
        self.all.append(fact)
        return fact

    @fence.fenced("following a data loader")
    def _started(self, loader: Any, frame: Any) -> Loader:
        fact = self._known.get(loader) or self._add(loader, None)
        fact.iterated, fact.told = own_place(frame), self.watcher.trainer.stage
        fact.begin_pass()
        self.watcher.new_epoch(fact)
        return fact

    @fence.fenced("following a batch")
    def delivered(self, fact: Loader, batch: Any, wait_s: float, cpu_s: float) -> None:
        self.batches += 1
        self.watcher.batches = self.batches
        self.watcher.batch_came()
        self.current = fact
        fact.count(wait_s, cpu_s, self.watcher.own_s)
        trail = self.watcher.trail
        if trail.on:
            with torch._C.DisableTorchFunction():
                for tensor in tensors_in(batch):
                    made = trail.known(tensor)
                    origin = Origin("", tensor, () if made is None else (made,), fact.iterated)
                    origin.kind, origin.tags, origin.loader = "data", origin.tags | DATA, fact
                    trail.note(tensor, origin)
        self.watcher.tell("batch", fact, batch)

    @fence.fenced("following a data loader")
    def exhausted(self, fact: Loader) -> None:
        fact.finished += 1
        self.watcher.tell("epoch_done", fact)
        self.watcher.epoch_over()


class _Watched:
    """A loader's iterator with a witness beside it; everything else about it is the iterator's own."""

    def __init__(self, iterator: Any, fact: Loader, witness: Loaders) -> None:
        self._stepscope = (iterator, fact, witness)

    def __iter__(self) -> _Watched:
        return self

    def __next__(self) -> Any:
        iterator, fact, witness = self._stepscope
        clock, work, own = time.perf_counter(), time.thread_time(), witness.watcher.own_s
        try:
            batch = next(iterator)
        except StopIteration:
            witness.exhausted(fact)
            raise
        ours = witness.watcher.own_s - own
        witness.delivered(fact, batch, time.perf_counter() - clock - ours, time.thread_time() - work - ours)
        return batch

    def __len__(self) -> int:
        return len(self._stepscope[0])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stepscope[0], name)
