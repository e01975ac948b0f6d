"""The door of a DataLoader worker: replaces torch's worker loop, sets up the clocks, and runs it.

It goes to the worker by fork or by pickle, so workers that are spawned are timed like those that are forked.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from stepscope import fence
from stepscope.events import Installed
from stepscope.profile.data.probe import Probe, set_current
from stepscope.profile.data.worker_lines import WorkerLines
from stepscope.record.tracebacks import without_our_frames

_WORKER = "torch.utils.data._utils.worker"
_INDEX_QUEUE, _DATA_QUEUE, _WORKER_ID = 2, 3, 10
"""Where they stand among the arguments of `_worker_loop`."""


class WorkerDoor:
    """Called in the worker with the arguments of torch's `_worker_loop`."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.loader = 0
        """The number of the loader that is starting workers."""
        self.loop: Callable[..., None] | None = None
        """torch's own; not sent along, a spawned worker finds it where it is."""

    def __getstate__(self) -> dict[str, Any]:
        return {"folder": self.folder, "loader": self.loader, "loop": None}

    def __call__(self, *args: Any) -> None:
        loop = self.loop
        if loop is None:
            from torch.utils.data._utils.worker import _worker_loop

            loop = _worker_loop
        probe = fence.fenced("timing a worker")(self._begin)(args)
        if probe is None:
            loop(*args)
            return
        mine = list(args)
        lines = WorkerLines(probe) if probe.worker == 0 else None  # one tells for all
        mine[_INDEX_QUEUE] = _TimedQueue(args[_INDEX_QUEUE], probe, lines)
        try:
            loop(*mine)
        finally:
            if lines is not None:
                lines.close()
            probe.close()

    def _begin(self, args: tuple[Any, ...]) -> Probe:
        import torch.utils.data._utils.worker as torchs_worker

        import stepscope.record.observers.own_frames  # noqa: F401 - now, not inside the first batch

        installed = Installed()  # for as long as the worker lives
        number = int(args[_WORKER_ID])
        path = os.path.join(self.folder, f"worker-{os.getpid()}.rows")
        probe = Probe(path, number, self.loader)
        if self.loop is None:  # spawned: nothing of what the main process has installed is here
            from stepscope.profile.data.fetching import install_fetching

            install_fetching(installed)
        set_current(probe)
        worker: Any = torchs_worker
        installed.replace(f"{_WORKER}:ExceptionWrapper", _without_us(worker.ExceptionWrapper))
        _time_pickling(probe, installed)
        return probe


class _TimedQueue:
    """The queue of what to fetch: waiting for it is a worker's idle time."""

    def __init__(self, queue: Any, probe: Probe, lines: WorkerLines | None) -> None:
        self._queue, self._probe, self._lines = queue, probe, lines

    def get(self, *args: Any, **kwargs: Any) -> Any:
        start = perf_counter_ns()
        task = self._queue.get(*args, **kwargs)
        probe = self._probe
        if isinstance(task, tuple) and len(task) == 2 and isinstance(task[0], int):
            probe.batch = task[0]
            end = perf_counter_ns()
            if probe.can_note(end):
                probe.note("queue", start, end)
        probe.flush()
        if self._lines is not None:
            self._lines.beat()
        return task

    def __getattr__(self, name: str) -> Any:
        return getattr(self._queue, name)


def _time_pickling(probe: Probe, installed: Installed) -> None:
    """A batch is packed for the main process by a thread of the queue, while the worker continues."""
    import multiprocessing.queues as queues

    pickler: Any = queues._ForkingPickler  # type: ignore[attr-defined]

    class Timed(pickler):  # type: ignore[misc]
        @classmethod
        def dumps(cls, obj: Any, protocol: Any = None) -> Any:
            start = perf_counter_ns()
            packed = pickler.dumps(obj, protocol)
            if isinstance(obj, tuple) and obj and isinstance(obj[0], int) and probe.can_note(start):
                probe.note("put", start, perf_counter_ns(), batch=obj[0])
            return packed

    installed.replace("multiprocessing.queues:_ForkingPickler", Timed)


def _without_us(wrapper: Any) -> Any:
    """What a worker's exception is sent in, its traceback as it would be without us."""

    def wrapped(exc_info: Any = None, where: str = "in background") -> Any:
        kind, error, trace = exc_info or sys.exc_info()
        return wrapper((kind, error, without_our_frames(trace)), where)

    return wrapped
