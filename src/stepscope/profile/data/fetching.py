"""Clocks inside torch's DataLoader: around the fetching of a batch, its samples, collation, pinning and the wait.

Installed on torch's own classes, in the main process and in every worker; what the user's classes see is unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from threading import get_ident
from time import perf_counter_ns
from typing import Any
from weakref import WeakSet, ref

from stepscope import fence
from stepscope.events import Installed
from stepscope.profile.data.probe import Probe, current
from stepscope.profile.data.stages import Stages, place_of_callable, sample_times, stages_of

__all__ = ["install_fetching", "install_waiting"]


def install_fetching(installed: Installed) -> None:
    """In a process that loads data: every fetcher that is made from now on has clocks of its own."""
    from torch.utils.data.dataloader import _DatasetKind

    make: Any = _DatasetKind.create_fetcher
    watched: WeakSet[Any] = WeakSet()

    @wraps(make)
    def create_fetcher(*args: Any, **kwargs: Any) -> Any:
        fetcher = make(*args, **kwargs)
        watched.add(fetcher)
        fetcher.fetch = partial(_fetch, ref(fetcher))  # no circle: what it holds is freed when its iterator is
        return fetcher

    installed.patch(_DatasetKind, "create_fetcher", staticmethod(create_fetcher))
    installed.add(lambda: [fetcher.__dict__.pop("fetch", None) for fetcher in watched])


def install_waiting(installed: Installed, module: Any, batch_of: Callable[[Any], tuple[int, int, int]]) -> None:
    """In the process that trains. `module` is `torch.utils.data.dataloader`.

    `batch_of(iterator)` gives the number of the loader, of the batch it will give, and how many are ready.
    """
    from torch.utils.data._utils import pin_memory

    for kind in (module._SingleProcessDataLoaderIter, module._MultiProcessingDataLoaderIter):
        installed.patch(kind, "_next_data", _watched_wait(kind._next_data, batch_of))
    installed.patch(pin_memory, "pin_memory", _watched_pin(pin_memory.pin_memory))


# -- a batch is fetched -------------------------------------------------------------------------------------------


def _fetch(of: ref[Any], index: Any) -> Any:
    """One batch, timed as far as the allowance goes."""
    fetcher: Any = of()
    fetch = type(fetcher).fetch  # looked up now: others may stand there
    probe = current()
    if probe is None:
        return fetch(fetcher, index)
    begun = perf_counter_ns()
    if not probe.can_note(begun):
        probe.untimed += 1
        return fetch(fetcher, index)
    watch = _look_closely(fetcher, index, probe)
    start = perf_counter_ns()
    try:
        return fetch(fetcher, index)
    finally:
        end = perf_counter_ns()
        if watch is not None:
            watch.end()
        probe.note("fetch", start, end, detail=0 if watch is None else 1)
        probe.flush()
        probe.charge(start - begun + perf_counter_ns() - end)


@fence.fenced("timing the samples of a batch")
def _look_closely(fetcher: Any, index: Any, probe: Probe) -> _Closely | None:
    """Clocks around every sample of this batch, if the allowance pays for them."""
    stages = fetcher.__dict__.get("_stepscope_stages")
    if stages is None or stages.probe is not probe:
        stages = fetcher._stepscope_stages = stages_of(fetcher.dataset, probe)
    samples = len(index) if fetcher.auto_collation and hasattr(index, "__len__") else 1
    if not probe.pay_details(samples * stages.count + 2):
        return None
    return _Closely(fetcher, stages, probe)


class _Closely:
    """The parts of one fetcher with clocks in them, until `end`."""

    def __init__(self, fetcher: Any, stages: Stages, probe: Probe) -> None:
        self._fetcher, self._stages = fetcher, stages
        self._stream = fetcher.__dict__.get("dataset_iter")
        self._dataset, self._collate = fetcher.dataset, fetcher.collate_fn
        stages.put_in()
        if self._stream is not None:
            fetcher.dataset_iter = sample_times(self._stream, stages.read_at, probe)
        else:
            fetcher.dataset = _TimedDataset(self._dataset, stages.read_at, probe)
        fetcher.collate_fn = _timed(self._collate, "collate", probe)

    @fence.fenced("timing the samples of a batch")
    def end(self) -> None:
        fetcher = self._fetcher
        if self._stream is not None:
            fetcher.dataset_iter = self._stream
        else:
            fetcher.dataset = self._dataset
        fetcher.collate_fn = self._collate
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


def _watched_wait(ask: Callable[[Any], Any], batch_of: Callable[[Any], tuple[int, int, int]]) -> Callable[[Any], Any]:
    count = fence.fenced("counting batches", (0, -1, -1))(batch_of)

    @wraps(ask)
    def _next_data(iterator: Any) -> Any:
        probe = current()
        begun = perf_counter_ns()
        if probe is None or not probe.can_note(begun):
            return ask(iterator)
        loader, batch, ready = count(iterator)
        probe.batch, probe.loader = batch, loader
        start = perf_counter_ns()
        data = ask(iterator)
        end = perf_counter_ns()
        probe.note("wait", start, end, batch=batch, loader=loader, ready=ready)
        probe.charge(start - begun + perf_counter_ns() - end)
        return data

    return _next_data


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
