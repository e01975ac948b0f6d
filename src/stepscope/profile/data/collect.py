"""The collector of the input pipeline: every loader, every worker, from `install` to `save`."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from stepscope import events, fence
from stepscope.profile.data.loaders import Loaders
from stepscope.profile.data.probe import MAIN, Probe, read_rows, set_current
from stepscope.profile.data.stages import shown_path
from stepscope.profile.data.worker import WorkerDoor
from stepscope.profile.data.worker_lines import read_lines
from stepscope.profile.trace.build import Builder
from stepscope.profile.trace.events import Events
from stepscope.records.profile import ProfileFile

_MAIN_ROWS = "main.rows"
_MOST_LINES = 200


class DataCollector:
    """Times what loads the data, in the main process and in workers that start while it is on.

        collector = DataCollector()
        imports.when("torch.utils.data.dataloader", collector.install)     # or collector.start()
        ...                                                                # the training
        collector.stop()
        files = collector.save(profile_folder, rank=0)                     # rank0.data.events, rank0.data.json

    Costs at most about one percent (see `probe.py`); draws no random numbers; workers need not end well.
    """

    def __init__(self) -> None:
        self.loaders = Loaders()
        self._installed = events.Installed()
        self._folder: str | None = None
        self._probe: Probe | None = None
        self._pid = os.getpid()
        self._on = False

    # -- hooks ----------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin now, importing torch's loaders."""
        import torch.utils.data.dataloader as module

        self.install(module)

    def install(self, module: Any) -> None:
        """Begin. `module` is `torch.utils.data.dataloader`, imported by the script."""
        if self._on or os.getpid() != self._pid:
            return
        from stepscope.profile.data.fetching import install_fetching, install_waiting

        self._on = True
        self._folder = tempfile.mkdtemp(prefix="stepscope-data-")
        self._probe = Probe(os.path.join(self._folder, _MAIN_ROWS), MAIN)
        set_current(self._probe)
        install_fetching(self._installed)
        install_waiting(self._installed, self._batch_of)
        self.loaders.install(self._installed)
        self._install_door(WorkerDoor(self._folder))

    def _install_door(self, door: WorkerDoor) -> None:
        """Workers start as a pass begins; the door must know for which loader."""
        import torch.utils.data._utils.worker as worker

        def asked(loader: Any) -> None:
            door.loader = self.loaders.of(loader)

        def began(loader: Any, iterator: Any, frame: Any) -> None:
            self.loaders.begins(iterator, loader)

        door.loop = worker._worker_loop
        self._installed.replace("torch.utils.data._utils.worker:_worker_loop", door)
        subscription = events.subscribe("noting a loader", pass_asked=asked, pass_began=began)
        self._installed.add(subscription.remove)

    def _batch_of(self, iterator: Any) -> tuple[int, int, int]:
        number = self.loaders.number_of(iterator)
        tasks = getattr(iterator, "_task_info", None)
        if tasks is None:
            return number, int(iterator._num_yielded), -1
        ready = sum(1 for task in tasks.values() if len(task) == 2)
        try:
            ready += iterator._data_queue.qsize()
        except NotImplementedError:  # macOS counts none
            ready = -1
        return number, int(iterator._rcvd_idx), ready

    def stop(self) -> None:
        """Take everything away. Workers that are still alive end by themselves and are not timed any more."""
        if not self._on or os.getpid() != self._pid:
            return
        self._on = False
        self._installed.remove()
        set_current(None)
        if self._probe is not None:
            self._probe.close()

    # -- what was seen --------------------------------------------------------------------------------------------

    def events(self) -> Events:
        """All events so far, of the main process and of workers."""
        builder = Builder()
        if self._probe is not None:
            self._probe.flush(now=True)
        for path in sorted(Path(self._folder).glob("*.rows")) if self._folder is not None else ():
            for frame in read_rows(str(path)):
                self._add(builder, frame)
        return builder.events()

    def _add(self, builder: Builder, frame: Any) -> None:
        if frame.worker != MAIN and frame.rows:
            builder.lane_names[str(frame.pid)] = f"DataLoader worker {frame.worker}"
        for name, place, start, duration, thread, batch, loader, detail, ready in frame.rows:
            args: dict[str, Any] = {"batch": batch, "worker": frame.worker, "loader": loader}
            if place:
                args["place"] = place
            if detail:
                args["detail"] = 1
            if ready >= 0:
                args["ready"] = ready
            builder.add(name, "data", start=start, dur=max(duration, 0), pid=frame.pid, tid=thread, args=args)

    def facts(self) -> dict[str, Any]:
        """What is known of the loaders; goes to `rankN.data.json`."""
        start = sys.modules.get("multiprocessing")
        return {
            "loaders": [msgspec.to_builtins(one) for one in self.loaders.facts.values() if one.passes],
            "start_method": start.get_start_method(allow_none=True) if start is not None else None,
            "lines": self._lines(),
            "cpus": _cpus(),
            "untimed_batches": 0 if self._probe is None else self._probe.untimed,
        }

    def _lines(self) -> list[list[Any]]:
        """[loader, file, line, function, nanoseconds] of what workers were seen at, the most first."""
        found: dict[tuple[Any, ...], int] = {}
        for path in Path(self._folder).glob("*.lines") if self._folder is not None else ():
            for *line, nanoseconds in fence.fenced("reading lines of workers", [])(read_lines)(path):
                found[tuple(line)] = found.get(tuple(line), 0) + nanoseconds
        most = sorted(found.items(), key=lambda item: -item[1])[:_MOST_LINES]
        return [[loader, shown_path(file) if file else "", *rest, time] for (loader, file, *rest), time in most]

    def save(self, folder: Path, rank: int = 0) -> list[ProfileFile]:
        """Write the events and the facts into a profile's folder; nothing when no loader was iterated."""
        from stepscope.profile.trace.columns import save_events

        if not any(one.passes for one in self.loaders.facts.values()):
            self.forget()
            return []
        events, data = folder / f"rank{rank}.data.events", folder / f"rank{rank}.data.json"
        save_events(self.events(), events)
        temporary = data.with_name(f".{data.name}")
        temporary.write_bytes(msgspec.json.encode(self.facts()))
        temporary.replace(data)
        self.forget()
        return [
            ProfileFile(name=events.name, kind="events", rank=rank, bytes=events.stat().st_size),
            ProfileFile(name=data.name, kind="data", rank=rank, bytes=data.stat().st_size),
        ]

    def forget(self) -> None:
        """Stop, and remove what was gathered."""
        self.stop()
        if self._folder is not None and os.getpid() == self._pid:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


def _cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
