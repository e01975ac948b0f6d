"""Clocks inside torch's DataLoader: around the fetching of a batch, its samples, collation, pinning and the wait.

Installed on torch's own classes, in the main process and in every worker; what the user's classes see is unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from threading import get_ident
from time import perf_counter_ns, thread_time_ns
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary, ref

from stepscope import events, fence
from stepscope.events.objects import lend
from stepscope.profile.data.probe import Probe, current
from stepscope.profile.data.stages import Stages, place_of_callable, sample_times, stages_of

_LOADER = "torch.utils.data.dataloader"


def install_fetching(installed: events.Installed) -> None:
    """In a process that loads data: every fetcher that is made from now on has clocks of its own."""
    import torch.utils.data.dataloader  # noqa: F401 - a worker that was spawned may not have it yet

    watched: WeakKeyDictionary[Any, Callable[[], None]] = WeakKeyDictionary()

    def watch(frame: FrameType, fetcher: Any, *args: Any, **kwargs: Any) -> None:
        # No circle: what a fetcher holds is freed when its iterator is.
        watched[fetcher] = lend(fetcher, "fetch", partial(_fetch, ref(fetcher)))

    installed.after(f"{_LOADER}:_DatasetKind.create_fetcher", "timing the loading of data", watch)
    installed.add(lambda: [give_back() for give_back in list(watched.values())])


def install_waiting(installed: events.Installed, batch_of: Callable[[Any], tuple[int, int, int]]) -> None:
    """In the process that trains.

    `batch_of(iterator)` gives the number of the loader, of the batch it will give, and how many are ready.
    """
    waits = _Waits(batch_of)
    subscription = events.subscribe(
        "timing the wait for data", order=85, batch_asked=waits.asked, batch_given=waits.given
    )
    installed.add(subscription.remove)
    installed.wrap("torch.utils.data._utils.pin_memory:pin_memory", _watched_pin)


# -- a batch is fetched -------------------------------------------------------------------------------------------


def _fetch(of: ref[Any], index: Any) -> Any:
    """One batch, timed as far as the allowance goes."""
    fetcher: Any = of()
    fetch = type(fetcher).fetch  # looked up now: it may have been replaced
    probe = current()
    if probe is None:
        return fetch(fetcher, index)
    if not probe.can_note(perf_counter_ns()):
        probe.untimed += 1
        return fetch(fetcher, index)
    begun = thread_time_ns()
    watch = _look_closely(fetcher, index, probe)
    before, start = thread_time_ns(), perf_counter_ns()
    try:
        return fetch(fetcher, index)
    finally:
        end, after = perf_counter_ns(), thread_time_ns()
        if watch is not None:
            watch.end()
        probe.note("fetch", start, end, detail=0 if watch is None else 1)
        probe.flush()
        probe.charge(before - begun + thread_time_ns() - after)


@fence.fenced("timing the samples of a batch")
def _look_closely(fetcher: Any, index: Any, probe: Probe) -> _Closely | None:
    """Clocks around every sample of this batch, if the allowance pays for them."""
    stages = fetcher.__dict__.get("_stepscope_stages")
    if stages is None or stages.probe is not probe:
        stages = stages_of(fetcher.dataset, probe)
        lend(fetcher, "_stepscope_stages", stages)  # goes with the fetcher
    samples = len(index) if fetcher.auto_collation and hasattr(index, "__len__") else 1
    if not probe.pay_details(samples * stages.count + 2):
        return None
    return _Closely(fetcher, stages, probe)


class _Closely:
    """The parts of one fetcher with clocks in them, until `end`."""

    def __init__(self, fetcher: Any, stages: Stages, probe: Probe) -> None:
        stream = fetcher.__dict__.get("dataset_iter")
        self._stages = stages
        stages.put_in()
        if stream is not None:
            parts = [lend(fetcher, "dataset_iter", sample_times(stream, stages.read_at, probe))]
        else:
            parts = [lend(fetcher, "dataset", _TimedDataset(fetcher.dataset, stages.read_at, probe))]
        parts.append(lend(fetcher, "collate_fn", _timed(fetcher.collate_fn, "collate", probe)))
        self._give_back = parts

    @fence.fenced("timing the samples of a batch")
    def end(self) -> None:
        for give_back in self._give_back:
            give_back()
        self._stages.take_out()


class _TimedDataset:
    """A dataset as a fetcher uses it: by index, or by many indices where it offers that."""

    __slots__ = ("_dataset", "_place", "_probe")

    def __init__(self, dataset: Any, place: str, probe: Probe) -> None:
        self._dataset, self._place, self._probe = dataset, place, probe

    def __getitem__(self, index: Any) -> Any:
        start = perf_counter_ns()
        sample = self._dataset[index]
        self._probe.note("sample", start, perf_counter_ns(), place=self._place)
        return sample

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._dataset, name)
        return _timed(found, "samples", self._probe) if name == "__getitems__" and found else found


def _timed(call: Any, name: str, probe: Probe) -> Any:
    place = place_of_callable(call)

    def timed(*args: Any) -> Any:
        start = perf_counter_ns()
        answer = call(*args)
        probe.note(name, start, perf_counter_ns(), place=place)
        return answer

    return timed


# -- the training waits for it ------------------------------------------------------------------------------------


class _Waits:
    """From a batch being asked for to its delivery, on each thread."""

    def __init__(self, batch_of: Callable[[Any], tuple[int, int, int]]) -> None:
        self._batch_of = batch_of
        self._going: dict[int, tuple[Any, tuple[int, int, int]]] = {}

    def asked(self, iterator: Any) -> None:
        probe, thread = current(), get_ident()
        self._going.pop(thread, None)
        if probe is None or not probe.can_note(perf_counter_ns()):
            return
        begun = thread_time_ns()
        found = loader, batch, _ = self._batch_of(iterator)
        probe.batch, probe.loader = batch, loader
        self._going[thread] = ref(iterator), found
        probe.charge(thread_time_ns() - begun)

    def given(self, iterator: Any, batch: Any, wall_s: float, cpu_s: float) -> None:
        end, probe = perf_counter_ns(), current()
        going = self._going.pop(get_ident(), None)
        if probe is None or going is None or going[0]() is not iterator:
            return
        loader, number, ready = going[1]
        probe.note("wait", end - round(1e9 * wall_s), end, batch=number, loader=loader, ready=ready)


def _watched_pin(pin: Callable[..., Any]) -> Callable[..., Any]:
    inside: set[int] = set()

    @wraps(pin)
    def pin_memory(data: Any, device: Any = None) -> Any:
        probe, thread = current(), get_ident()
        start = perf_counter_ns()
        if probe is None or thread in inside or not probe.can_note(start):  # it calls itself for the parts of a batch
            return pin(data, device)
        inside.add(thread)
        try:
            return pin(data, device)
        finally:
            inside.discard(thread)
            probe.note("pin", start, perf_counter_ns())
            probe.flush()

    return pin_memory
