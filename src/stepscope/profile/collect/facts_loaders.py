"""Facts of the DataLoaders: how each is set up, where it is made and iterated, and what one fetch is made of."""

from __future__ import annotations

import random
import weakref
from collections.abc import Callable
from functools import wraps
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from stepscope import events, fence
from stepscope.events.objects import lend

if TYPE_CHECKING:
    from stepscope.profile.collect.facts import Facts

_KEPT = 2000
_CLOCK = 80
_FETCHERS = (
    "torch.utils.data._utils.fetch:_MapDatasetFetcher.fetch",
    "torch.utils.data._utils.fetch:_IterableDatasetFetcher.fetch",
)
_SETTINGS = ("batch_size", "num_workers", "pin_memory", "prefetch_factor", "persistent_workers", "drop_last")


class Wait(NamedTuple):
    """A wait for a batch, and the CPU time of this thread in it."""

    wall_ns: int
    cpu_ns: int


class Fetch(NamedTuple):
    """A batch that was fetched in this process while watching."""

    samples: int
    dataset_ns: int
    whole_ns: int
    dataset_cpu_ns: int


class _Loader:
    """One DataLoader."""

    def __init__(self, loader: Any, number: int) -> None:
        self.ref = weakref.ref(loader)
        self.number = number
        self.made: tuple[str, int] | None = None
        self.iterated: tuple[str, int] | None = None
        self.passes = 0
        self.first_waits: list[int] = []
        """Of each pass: the wait for its first batch, in which workers start."""
        self.waits: list[int] = []
        self.turns: list[int] = []
        self._batch_waits: list[Wait] = []
        self.batches = 0
        self.trains = 0
        self.evaluated_ns = 0
        self.evaluated = 0
        self.fetches: list[Fetch] = []
        self.is_random = False
        self.batch: dict[str, Any] = {}
        self.of_pass = 0
        self.last = 0
        self.peeked: bool | None = None
        """Of a batch no optimizer step came after: the model's output was made with gradients."""
        self.data: dict[str, Any] = {}
        self.settings = _settings(loader)

    def note_wait(self, wall: int, cpu: int) -> None:
        if len(self._batch_waits) < _KEPT:
            self._batch_waits.append(Wait(wall, cpu))

    def quick_waits(self) -> tuple[int | None, float | None]:
        """The quickest waits (on a busy machine the others are longer because other programs run): how long, and what
        of it this thread computes itself; the rest it waits for a disk, the net or workers."""
        fifth = max(1, len(self._batch_waits) // 5)
        quickest = sorted(self._batch_waits)[:fifth]
        wall = sum(wait.wall_ns for wait in quickest)
        cpu = sum(wait.cpu_ns for wait in quickest)
        if not wall:
            return None, None
        return wall // len(quickest), round(min(1.0, cpu / wall), 3)


class LoaderFacts:
    """All loaders of the process."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._now, self._work = facts.clock.wall_ns, facts.clock.work_ns
        self._known: weakref.WeakKeyDictionary[Any, _Loader] = weakref.WeakKeyDictionary()
        self._all: list[_Loader] = []
        self._iterators: weakref.WeakKeyDictionary[Any, _Loader] = weakref.WeakKeyDictionary()
        self._current: _Loader | None = None
        self._fresh = False
        self._peeking: Any = None
        self._asked: _Loader | None = None
        self._asked_at: weakref.WeakKeyDictionary[Any, tuple[int, int]] = weakref.WeakKeyDictionary()

    def install(self, installed: events.Installed) -> None:
        subscription = events.subscribe(
            "noting loaders",
            order=_CLOCK,
            loader_made=self._made,
            pass_began=self._started,
            batch_asked=self._is_asked,
            batch_given=self._delivered,
            pass_ended=self._exhausted,
        )
        installed.add(subscription.remove)
        for point in _FETCHERS:
            installed.wrap(point, self._timed_fetch)

    # -- stations -------------------------------------------------------------------------------------------------

    def _timed_fetch(self, fetch: Any) -> Any:
        @wraps(fetch)
        def looked_at(fetcher: Any, possibly_batched_index: Any) -> Any:
            look = self._facts.look
            if look is None or not look.on:
                return fetch(fetcher, possibly_batched_index)
            before = _random_state()
            collate = fetcher.collate_fn
            inside = worked = 0

            def timed_collate(samples: Any) -> Any:
                nonlocal inside, worked
                inside, worked = self._now() - began, self._work() - working
                look.fetching = False
                return collate(samples)

            give_back = lend(fetcher, "collate_fn", timed_collate)
            look.fetching = True
            began, working = self._now(), self._work()
            try:
                return fetch(fetcher, possibly_batched_index)
            finally:
                ended = self._now()
                look.fetching = False
                give_back()
                samples = len(possibly_batched_index) if isinstance(possibly_batched_index, list) else 1
                fence.call("noting a fetch", self._fetched, samples, inside, ended - began, worked, before)

        return looked_at

    def _fetched(self, samples: int, inside: int, whole: int, worked: int, before: Any) -> None:
        known = self._asked  # who was asked for a batch: other clocks may replace the dataset meanwhile
        if known is not None:
            known.fetches.append(Fetch(samples, inside, whole, worked))
            known.is_random = known.is_random or _random_state() != before

    def _made(self, loader: Any, frame: FrameType) -> None:
        from stepscope.profile.collect.facts_look import file_line

        if loader not in self._known:
            self._add(loader).made = file_line(frame)

    def _add(self, loader: Any) -> _Loader:
        known = self._known[loader] = _Loader(loader, len(self._all))
        if len(self._all) < _KEPT:
            self._all.append(known)
        return known

    def _started(self, loader: Any, iterator: Any, frame: FrameType) -> None:
        from stepscope.profile.collect.facts_look import file_line

        known = self._known.get(loader) or self._add(loader)
        known.iterated = file_line(frame)
        known.settings = _settings(loader)
        known.passes += 1
        known.of_pass = 0
        self._iterators[iterator] = known

    def _is_asked(self, iterator: Any) -> None:
        self._asked = self._iterators.get(iterator)
        self._asked_at[iterator] = self._now(), self._work()

    def _delivered(self, iterator: Any, batch: Any, wall_s: float, cpu_s: float) -> None:
        ended, worked = self._now(), self._work()
        began, working = self._asked_at.get(iterator, (ended, worked))
        self._facts.waited(ended - began)
        if self._asked is not None:
            self._asked.note_wait(ended - began, worked - working)
        known = self._iterators.get(iterator)
        if known is None:
            return
        self._evaluated(known, began)
        known.batches += 1
        known.of_pass += 1
        if known.of_pass == 1:
            known.first_waits.append(ended - began)
        elif len(known.waits) < _KEPT:
            known.waits.append(ended - began)
            known.turns.append(ended - known.last)
        known.last = ended
        if known.batches in (2, 3):
            from stepscope.profile.collect.facts_data import describe_batch

            known.batch = describe_batch(batch)
        self._current, self._fresh = known, True
        if known.of_pass == 2 and not known.trains and known.peeked is None:
            self._peek(known)

    def _exhausted(self, iterator: Any) -> None:
        known = self._iterators.get(iterator)
        if known is not None:
            self._evaluated(known, self._now())
            self._fresh = False

    def _peek(self, known: _Loader) -> None:
        """Until the next batch: does what looks like evaluation build graphs for gradients it never asks for?"""
        from stepscope.profile.collect.facts_process import is_compiled

        if is_compiled() or (self._facts.look is not None and self._facts.look.on):
            return

        def ends(call: Any) -> None:
            known.peeked = bool(known.peeked) or bool(getattr(call.result, "requires_grad", False))

        self._peeking = events.subscribe("looking at an evaluation", module_ends=ends)

    def stop_peeking(self) -> None:
        if self._peeking is not None:
            self._peeking.remove()
            self._peeking = None

    def _evaluated(self, known: _Loader, now: int) -> None:
        """The batch before, when no optimizer step came after it, was for evaluation: how long it took."""
        self.stop_peeking()
        if self._current is known and self._fresh and known.of_pass:
            known.evaluated_ns += now - known.last
            known.evaluated += 1

    def stepped(self) -> None:
        """An optimizer made a step: the batch before it was for training."""
        self.stop_peeking()
        if self._current is not None and self._fresh:
            self._current.trains += 1
            self._fresh = False
            if not self._current.data:
                self._describe(self._current)

    def _describe(self, known: _Loader) -> None:
        from stepscope.profile.collect.facts_data import describe_dataset

        loader = known.ref()
        if loader is not None:
            known.data = fence.fenced("describing a dataset")(describe_dataset)(loader.dataset) or {"class": "?"}

    # -- the end --------------------------------------------------------------------------------------------------

    def result(self) -> list[dict[str, Any]]:
        return [self._one(known) for known in self._all if known.batches][:50]

    def _one(self, known: _Loader) -> dict[str, Any]:
        import statistics

        same = [one for one in self._all if one.made == known.made and one.made is not None and one.batches]
        settled = known.waits[len(known.waits) // 3 :]
        found: dict[str, Any] = {
            "made": known.made,
            "iterated": known.iterated,
            **known.settings,
            "made_times": len(same),
            "passes": known.passes,
            "batches": known.batches,
            "trains": known.trains,
            "evaluated": known.evaluated,
            "evaluated_ns": known.evaluated_ns,
            "evaluated_with_grad": bool(known.peeked) and not known.trains,
            "wait_ns": _whole(statistics.median, settled),
            "mean_wait_ns": _whole(statistics.fmean, settled),
            "quick_wait_ns": known.quick_waits()[0],
            "working_share": known.quick_waits()[1],
            "first_wait_ns": int(statistics.median(known.first_waits[1:] or known.first_waits)),
            "batch": known.batch,
            "dataset": known.data,
            "random": known.is_random,
        }
        if known.fetches:
            found["fetch"] = {
                "samples": statistics.median(fetch.samples for fetch in known.fetches),
                "dataset_ns": int(statistics.median(fetch.dataset_ns for fetch in known.fetches)),
                "whole_ns": int(statistics.median(fetch.whole_ns for fetch in known.fetches)),
                "dataset_cpu_ns": int(min(fetch.dataset_cpu_ns for fetch in known.fetches)),
            }
        return found


def _settings(loader: Any) -> dict[str, Any]:
    found = {name: getattr(loader, name, None) for name in _SETTINGS}
    sampler, collate = getattr(loader, "sampler", None), getattr(loader, "collate_fn", None)
    return {
        **{name: value for name, value in found.items() if value is None or isinstance(value, int | float)},
        "shuffled": type(sampler).__name__ == "RandomSampler",
        "iterable": type(sampler).__name__ == "_InfiniteConstantSampler",
        "collate": getattr(collate, "__name__", type(collate).__name__),
    }


def _random_state() -> Any:
    """Whether something drew a random number shows in the states; reading them draws none."""
    import numpy as np
    import torch

    numpy: Any = np.random.get_state(legacy=True)
    python = random.getstate()
    with events.quietly():  # neither the look nor a mode of the script is to see this
        drawn = hash(torch.get_rng_state().numpy().tobytes())
    return drawn, hash(numpy[1].tobytes()), numpy[2:], hash(python)


def _whole(average: Callable[[list[int]], float], values: list[int]) -> int | None:
    return int(average(values)) if values else None
