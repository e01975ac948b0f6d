"""Which lines a worker is at while it loads: a sampler inside it, written down every two seconds."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from stepscope import fence
from stepscope.common import clocks
from stepscope.files.opening import read_file
from stepscope.profile.data.probe import Probe
from stepscope.profile.python.sampler import Sampler

_INTERVAL_S = 0.01
_WRITE_S = 2.0
_INSIDE = "fetch"
_LARGEST = 64 << 20
"""The function of torch around all that loads a batch: what a worker does outside of it is waiting."""

Line = tuple[int, str, int, str, int]


class WorkerLines:
    """Lines of the user's own code, each with the libraries it calls. Lives in the worker."""

    def __init__(self, probe: Probe) -> None:
        self._path = Path(probe.path).with_suffix(".lines")
        self._loader = probe.loader
        self._sampler = Sampler(_INTERVAL_S)
        self._written = clocks.monotonic()
        fence.fenced("sampling a worker")(self._sampler.start)()

    def beat(self) -> None:
        """Between two batches."""
        if clocks.monotonic() - self._written > _WRITE_S:
            self._write()

    def close(self) -> None:
        fence.fenced("sampling a worker")(self._sampler.stop)()
        self._write()

    @fence.fenced("writing lines of a worker")
    def _write(self) -> None:
        from stepscope.record.observers.own_frames import is_own

        self._written = clocks.monotonic()
        if not self._path.parent.is_dir():  # the collector has ended
            self._sampler.stop()
            return
        found = self._sampler.samples.own_lines(is_own, _INSIDE)
        rows: list[Line] = [(self._loader, *line, nanoseconds) for line, nanoseconds in found.items()]
        temporary = self._path.with_suffix(".part")
        temporary.write_bytes(msgspec.msgpack.encode(rows))
        os.replace(temporary, self._path)


def read_lines(path: Path) -> list[Line]:
    """What one worker wrote last."""
    return msgspec.msgpack.decode(read_file(path, _LARGEST, within=path.parent), type=list[Line])
