"""Loaders: every DataLoader, what it delivers, and how long the script waits for it."""

from __future__ import annotations

import time
import weakref
from typing import TYPE_CHECKING, Any

import torch

from stepscope.evidence.origins import DATA
from stepscope.record.arguments import tensors_in
from stepscope.record.watch.origin import LiveOrigin
from stepscope.record.watch.places import is_own_file, own_place
from stepscope.record.watch.witness import Witness

if TYPE_CHECKING:
    from stepscope.evidence.steps import Backward
    from stepscope.record.watch.watcher import Watcher
    from stepscope.records.place import Place

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

    steady = True

    def __init__(self, watcher: Watcher) -> None:
        super().__init__(watcher)
        self.all: list[Loader] = []
        self.current: Loader | None = None
        """The one that delivered last."""
        self.batches = 0
        self._known: weakref.WeakKeyDictionary[Any, Loader] = weakref.WeakKeyDictionary()
        self._passes: weakref.WeakKeyDictionary[Any, Loader] = weakref.WeakKeyDictionary()
        self._counted = -1
        self._asked_own_s = 0.0

    def of(self, loader: Any) -> Loader | None:
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

    def _add(self, loader: Any, place: Place | None) -> Loader:
        fact = self._known[loader] = Loader(loader, len(self.all), place, self.watcher.step)
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
        ours = watcher.trail.cost_s + watcher.asking_s
        fact.count(wait_s - (ours - self._asked_own_s), cpu_s - (ours - self._asked_own_s), ours)
        trail = self.watcher.trail
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
        self._asked_own_s = self.watcher.trail.cost_s + self.watcher.asking_s

    def exhausted(self, iterator: Any) -> None:
        """It has no more batches."""
        fact = self._passes.pop(iterator, None)
        if fact is not None:
            fact.finished += 1
            self.watcher.tell("epoch_done", fact)
            self.watcher.epoch_over()
