"""Numbers on a device: copied without waiting, read when they have arrived.

`log` must not make the training wait for the GPU. The copy to pinned memory is queued on the stream that computes the
value, so it gets exactly the value the script would have seen, unaffected by later changes of the tensor. The row keeps
its step and time; it is written by the first `log` call or background poll that finds the copy done.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from stepscope.common import clocks
from stepscope.fence import fenced
from stepscope.track.cuda_copies import AsyncCopy, CopyRoom, allow_queries_during_capture
from stepscope.track.values import DeviceScalar

MAX_WAITING = 10_000
"""Maximum number of rows; without a limit, an unresponsive device would fill the memory."""
LOOK_EVERY_S = 0.05

Write = Callable[[int, Sequence[Any], float], None]
Reader = Callable[[], "list[Any] | None"]


class Row:
    """A row with missing values, and how to fill them."""

    __slots__ = ("_parts", "_values", "step", "time", "write")

    def __init__(self, write: Write, step: int, when: float, values: Sequence[Any], room: CopyRoom) -> None:
        self.write = write
        self.step = step
        self.time = when
        self._values = list(values)
        self._parts = _start_copies(self._values, room)

    def is_ready(self) -> bool:
        return all(part.is_ready() for part in self._parts)

    def finish(self) -> None:
        for part in self._parts:
            for place, number in zip(part.places, part.read(), strict=True):
                self._values[place] = number
        self.write(self.step, self._values, self.time)


class _LateRead:
    """A value on a device without CUDA events: cloned now, read in the background, where waiting is harmless."""

    def __init__(self, place: int, tensor: Any) -> None:
        self.places = [place]
        self._tensor = tensor.detach().clone()

    def is_ready(self) -> bool:
        return threading.current_thread().name == DeviceQueue.THREAD

    def read(self) -> list[Any]:
        return [self._tensor.item()]


def _start_copies(values: list[Any], room: CopyRoom) -> list[AsyncCopy | _LateRead]:
    torch = sys.modules["torch"]
    groups: dict[tuple[Any, Any], tuple[list[int], list[Any]]] = {}
    parts: list[AsyncCopy | _LateRead] = []
    for place, value in enumerate(values):
        if type(value) is not DeviceScalar:
            continue
        tensor = value.tensor
        if tensor.device.type == "cuda":
            places, tensors = groups.setdefault((tensor.device, tensor.dtype), ([], []))
            places.append(place)
            tensors.append(tensor)
        else:
            parts.append(_LateRead(place, tensor))
    parts.extend(AsyncCopy(torch, places, tensors, room) for places, tensors in groups.values())
    return parts


class DeviceQueue:
    """Rows that wait for a device, in logging order."""

    THREAD = "stepscope-device"

    def __init__(self, lost: Callable[[int, str], None]) -> None:
        self.room = CopyRoom()
        self._rows: deque[Row] = deque()
        self._lock = threading.Lock()
        self._lost = lost
        self._wake = threading.Event()
        self._pause = threading.Event()
        self._closed = False
        self._thread: threading.Thread | None = None

    def add(self, row: Row) -> None:
        if len(self._rows) >= MAX_WAITING:
            self._lost(1, "the device did not answer")
            return
        self._rows.append(row)
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name=self.THREAD, daemon=True)
            self._thread.start()
        if not self._wake.is_set():
            self._wake.set()
        self.write_ready()

    @fenced("reading values from the device")
    def write_ready(self) -> None:
        """Write the rows that have arrived; returns at once if another thread is doing so."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            while self._rows and self._rows[0].is_ready():
                self._rows.popleft().finish()
        except RuntimeError as error:  # a failed device: nothing on it can be read any more
            self._give_up(f"the device failed ({error})")
        finally:
            self._lock.release()

    def _give_up(self, reason: str) -> None:
        count = len(self._rows)
        self._rows.clear()
        self._lost(max(count, 1), reason)

    def _watch(self) -> None:
        allow_queries_during_capture()
        while not self._closed:
            self._wake.wait()
            # Rows are mostly written by the next log(); a thread that woke for each would only compete for the GIL.
            self._pause.wait(LOOK_EVERY_S)
            self._wake.clear()  # before checking: a row added meanwhile sets it again
            self.write_ready()
            if self._rows:
                self._wake.set()

    def drain(self, timeout_s: float = 10.0) -> None:
        """Wait until all rows are written, or give up and report it."""
        deadline = clocks.monotonic() + timeout_s
        fenced("marking the stream")(self.room.mark_all)()
        while self._rows and clocks.monotonic() < deadline:
            self.write_ready()
            if self._rows:
                clocks.sleep(0.001)
        if self._rows:
            self._give_up(f"the device did not answer for {timeout_s:g} s")

    def close(self) -> None:
        self.drain()
        self._closed = True
        self._pause.set()
        self._wake.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=1.0)
