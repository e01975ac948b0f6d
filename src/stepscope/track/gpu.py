"""Numbers that still lie on a device: copied without waiting, read when they have arrived.

`log` must not make the training wait for the GPU. The copy to pinned memory is queued on the stream that makes the
value, so it sees exactly what the script would have seen, and later changes of the tensor do not reach it. The row
keeps its step and its time; it is written by the first `log` call or background look that finds the copy done.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from stepscope.fence import fenced
from stepscope.track.values import DeviceScalar

__all__ = ["DeviceQueue", "Row", "Slots"]

MAX_WAITING = 10_000
"""Rows; beyond this a device that never answers would fill the memory."""
LOOK_EVERY_S = 0.05

Write = Callable[[int, Sequence[Any], float], None]
Reader = Callable[[], "list[Any] | None"]


class Row:
    """A row with holes, and how to fill them."""

    __slots__ = ("_parts", "_values", "step", "time", "write")

    def __init__(self, write: Write, step: int, when: float, values: Sequence[Any], slots: Slots) -> None:
        self.write = write
        self.step = step
        self.time = when
        self._values = list(values)
        self._parts = _start_copies(self._values, slots)

    def is_ready(self) -> bool:
        return all(part.is_ready() for part in self._parts)

    def finish(self) -> None:
        for part in self._parts:
            for place, number in zip(part.places, part.read(), strict=True):
                self._values[place] = number
        self.write(self.step, self._values, self.time)


class Slots:
    """Pinned memory and events, used again and again: to ask for pinned memory can make the caller wait for the device.

    They are made by the slab, so that this happens once or twice in a training.
    """

    SLAB = 256

    def __init__(self) -> None:
        self._free: dict[tuple[Any, Any, int], list[tuple[Any, Any]]] = {}

    def take(self, torch: Any, device: Any, dtype: Any, count: int) -> tuple[Any, Any]:
        free = self._free.setdefault((device, dtype, count), [])
        try:
            return free.pop()
        except IndexError:
            shape = (self.SLAB, count) if count > 1 else (self.SLAB,)
            slab = torch.empty(shape, dtype=dtype, device="cpu", pin_memory=True)
            free.extend((host, torch.cuda.Event()) for host in slab.unbind(0))
            return free.pop()

    def give_back(self, device: Any, dtype: Any, count: int, slot: tuple[Any, Any]) -> None:
        self._free[device, dtype, count].append(slot)


class _AsyncCopy:
    """Values of one CUDA device and dtype on their way to pinned memory."""

    __slots__ = ("_device", "_dtype", "_slot", "_slots", "places")

    def __init__(self, torch: Any, places: list[int], tensors: list[Any], slots: Slots) -> None:
        self.places = places
        first = tensors[0]
        self._slots, self._device, self._dtype = slots, first.device, first.dtype
        self._slot = host, done = slots.take(torch, first.device, first.dtype, len(tensors))
        with torch.no_grad():  # the copy must not become part of anybody's graph
            numbers = [each if each.ndim == 0 else each.reshape(()) for each in tensors]
            host.copy_(torch.stack(numbers) if len(numbers) > 1 else numbers[0], non_blocking=True)
        done.record(torch.cuda.current_stream(first.device))

    def is_ready(self) -> bool:
        return bool(self._slot[1].query())

    def read(self) -> list[Any]:
        values = self._slot[0].tolist()
        self._slots.give_back(self._device, self._dtype, len(self.places), self._slot)
        return values if isinstance(values, list) else [values]


class _LateRead:
    """A value on a device without CUDA's events: cloned now, read in the background, where waiting harms nobody."""

    def __init__(self, place: int, tensor: Any) -> None:
        self.places = [place]
        self._tensor = tensor.detach().clone()

    def is_ready(self) -> bool:
        return threading.current_thread().name == DeviceQueue.THREAD

    def read(self) -> list[Any]:
        return [self._tensor.item()]


def _start_copies(values: list[Any], slots: Slots) -> list[_AsyncCopy | _LateRead]:
    torch = sys.modules["torch"]
    groups: dict[tuple[Any, Any], tuple[list[int], list[Any]]] = {}
    parts: list[_AsyncCopy | _LateRead] = []
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
    parts.extend(_AsyncCopy(torch, places, tensors, slots) for places, tensors in groups.values())
    return parts


class DeviceQueue:
    """Rows that wait for a device, in the order they were logged."""

    THREAD = "stepscope-device"

    def __init__(self, lost: Callable[[int, str], None]) -> None:
        self.slots = Slots()
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
        """Write the rows that have arrived; leaves at once if another thread is at it."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            while self._rows and self._rows[0].is_ready():
                self._rows.popleft().finish()
        except RuntimeError as error:  # a device that failed: nothing on it can be read any more
            self._give_up(f"the device failed ({error})")
        finally:
            self._lock.release()

    def _give_up(self, reason: str) -> None:
        count = len(self._rows)
        self._rows.clear()
        self._lost(max(count, 1), reason)

    def _watch(self) -> None:
        while not self._closed:
            self._wake.wait()
            # Rows are mostly written by the next log(); a thread that woke for each would only fight for the GIL.
            self._pause.wait(LOOK_EVERY_S)
            self._wake.clear()  # before looking: a row added meanwhile sets it again
            self.write_ready()
            if self._rows:
                self._wake.set()

    def drain(self, timeout_s: float = 10.0) -> None:
        """Wait until all rows are written, or give them up and say so."""
        deadline = time.monotonic() + timeout_s
        while self._rows and time.monotonic() < deadline:
            self.write_ready()
            if self._rows:
                time.sleep(0.001)
        if self._rows:
            self._give_up(f"the device did not answer for {timeout_s:g} s")

    def close(self) -> None:
        self.drain()
        self._closed = True
        self._pause.set()
        self._wake.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=1.0)
