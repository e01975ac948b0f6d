"""Hands a training batches of growing sizes and times its steps: inside the script's process.

The script's own loop continues and never knows. When a size does not fit, the error ends this process, and the next one
continues from what was measured: nothing of a failed attempt is left in memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, replace
from statistics import median
from typing import Any

from stepscope.common import clocks
from stepscope.profile.batch.memory import Memory
from stepscope.profile.batch.search import Measurement, Search
from stepscope.profile.data.diversion import Diversion
from stepscope.profile.data.settings import LoaderSettings, loader_like
from stepscope.profile.data.training_loader import TrainingLoader
from stepscope.profile.data.trial import settle
from stepscope.record.lengths import known_length

_WARM = 2
Tell = Callable[[dict[str, Any]], None]


class BatchTuner:
    """`tell` gets an event for everything that happens, at once: the process may not live to say more."""

    def __init__(self, order: dict[str, Any], backwards: Callable[[], int], finish: Callable[[], None], tell: Tell):
        self.diversion = Diversion(self._give)
        self.loader: Any = None
        self._order, self._finish, self._tell = order, finish, tell
        self._training = TrainingLoader(backwards)
        self._search: Search | None = None
        self._memory: Memory | None = None
        self._size: _Size | None = None
        self._until = 0.0
        self._pid = os.getpid()

    @property
    def size(self) -> int | None:
        """The batch size that is being tried."""
        return None if self._size is None else self._size.size

    def _give(self, iterator: Any, loader: Any, ask: Callable[[], Any]) -> Any:
        if os.getpid() != self._pid or (self.loader is None and not self._begin(loader)) or loader is not self.loader:
            return ask()
        if self._size is None or self._size.is_done:
            self._next()
        assert self._size is not None
        return self._size.next(self.diversion.own)

    def _begin(self, loader: Any) -> bool:
        """Whether this is the loader the script trains on; then the search can go on."""
        if not self._training.is_it(loader):
            return False
        self.loader, self._until = loader, clocks.perf_counter() + float(self._order["seconds"])
        if loader.batch_size is None:
            self._tell({"event": "cannot", "why": "its batches are made by a batch_sampler or by the dataset itself"})
            self._finish()
        limits = [one for one in (self._order.get("most"), _samples(loader)) if one]
        self._memory = Memory(_on_device(), self._order.get("max_bytes"))
        state = self._order.get("state")
        self._search = Search(loader.batch_size) if state is None else Search.of(state)
        self._search.most = min(limits, default=None)
        self._search.limit_bytes = self._memory.limit
        self._tell({"event": "loader", "now": loader.batch_size, "most": self._search.most,
                    "workers": loader.num_workers, "dataset": type(loader.dataset).__name__,
                    "on_device": self._memory.on_device, "limit_bytes": self._memory.limit})  # fmt: skip
        self._memory.enforce()
        return True

    def _next(self) -> None:
        assert self._search is not None
        assert self._memory is not None
        done = self._size
        if done is not None:
            measured = done.measurement(self._memory.peak_bytes)
            self._search.done.append(measured)
            self._tell({"event": "measured", **asdict(measured)})
            done.close()
        size = self._search.next_size()
        if size is None or clocks.perf_counter() > self._until:
            self._size = None
            self._tell({"event": "over", "bound": "time" if size is not None else self._search.bound})
            self._finish()
            return
        self._tell({"event": "trying", "size": size})
        settle()
        self._memory.reset_peak()
        self._size = _Size(size, self.loader, int(self._order["batches"]), float(self._order["trial_s"]))


class _Size:
    """Batches of one size, and the clock around them."""

    def __init__(self, size: int, loader: Any, batches: int, seconds: float) -> None:
        self.size = size
        settings = replace(LoaderSettings.of(loader), batch_size=size, persistent=False)
        self._made = loader_like(loader, settings, drop_last=True)
        self._iterator: Any = None
        self._batches, self._seconds = batches, seconds
        self._asked = 0
        self._waited = 0.0
        self._began = self._asked_at = self._last_wait = 0.0
        self._steps: list[tuple[float, float]] = []
        """How long each took, and of it waited for its batch."""
        self._is_in_turn = not loader.num_workers and not _on_device()
        """Each step is over when the next batch is asked for. Then the median is its time: other programs of a
        busy machine stretch a mean. Where workers hand over in bursts or a device runs behind, only a mean is right."""

    def next(self, own: Any) -> Any:
        self._asked += 1
        if self._asked == _WARM + 1:
            settle()
            self._began, self._waited = clocks.perf_counter(), 0.0
        asked = clocks.perf_counter()
        if self._asked > _WARM + 1:
            self._steps.append((asked - self._asked_at, self._last_wait))
        batch = self._batch(own)
        self._asked_at, self._last_wait = asked, clocks.perf_counter() - asked
        self._waited += self._last_wait
        return batch

    def _batch(self, own: Any) -> Any:
        for _ in range(2):
            if self._iterator is None:
                self._iterator = self._made._get_iterator()
                own.add(self._iterator)
            try:
                return self._iterator._next_data()
            except StopIteration:
                self._iterator = None
        raise RuntimeError(f"the data has no full batch of {self.size}")

    @property
    def is_done(self) -> bool:
        """Asked as the next batch is: then all steps but the warm ones are over."""
        steps = self._asked - _WARM
        taken = clocks.perf_counter() - self._began
        return steps >= 1 and ((steps >= self._batches and taken >= self._seconds / 3) or taken >= self._seconds)

    def measurement(self, peak_bytes: int) -> Measurement:
        settle()
        steps = self._asked - _WARM
        now = clocks.perf_counter()
        if not self._is_in_turn:
            return Measurement(self.size, (now - self._began) / steps, self._waited / steps, peak_bytes, steps)
        self._steps.append((now - self._asked_at, self._last_wait))
        took, waited = (median(times) for times in zip(*self._steps, strict=True))
        return Measurement(self.size, took, waited, peak_bytes, steps)

    def close(self) -> None:
        shut = getattr(self._iterator, "_shutdown_workers", None)
        if shut is not None:
            shut()
        self._iterator = self._made = None


def _samples(loader: Any) -> int | None:
    """How many samples a pass has: no batch can hold more of them."""
    return known_length(loader.sampler) if loader.batch_sampler is not None else None


def _on_device() -> bool:
    import torch

    return bool(torch.cuda.is_initialized())  # type: ignore[no-untyped-call]
