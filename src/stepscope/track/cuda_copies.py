"""Asynchronous copies from CUDA devices: pinned slots to copy to, and events that show when copies are done.

Everything here minimizes the cost on the training's thread. Pinned memory is allocated in slabs and reused, because
allocating it can wait for the device. A mark (an event on the stream) covers all copies queued before it: one every 20
ms is enough, and on a slow host an event costs as much as the copy itself.
"""

from __future__ import annotations

import ctypes
import sys
from types import ModuleType
from typing import Any

from stepscope.common import clocks

SLAB = 256
MARK_EVERY_S = 0.02
_CAPTURE_MODE = (
    ("libcuda.so.1", "cuThreadExchangeStreamCaptureMode"),
    ("libamdhip64.so", "hipThreadExchangeStreamCaptureMode"),
)


def is_capturing() -> bool:
    """Whether a CUDA graph is being captured on this thread's stream; then nothing may be copied or queried."""
    cuda = sys.modules["torch"].cuda
    return bool(cuda.is_initialized() and cuda.is_current_stream_capturing())


def allow_queries_during_capture() -> bool:
    """Let this thread query events while the training captures a CUDA graph.

    With some drivers such a query, from any thread, breaks the capture. Returns whether it is allowed.
    """
    relaxed = ctypes.c_int(2)
    for library, function in _CAPTURE_MODE:
        try:
            status: int = getattr(ctypes.CDLL(library), function)(ctypes.byref(relaxed))
            return status == 0
        except (OSError, AttributeError):  # not this vendor's device
            continue
    return False


class _Mark:
    """A position in a stream; done once the device has passed it."""

    __slots__ = ("_event", "is_done")

    def __init__(self) -> None:
        self._event: Any = None
        self.is_done = False

    @property
    def is_set(self) -> bool:
        return self._event is not None

    def set(self, torch: ModuleType, stream: Any) -> None:
        event = torch.cuda.Event()
        event.record(stream)
        self._event = event

    def check(self) -> bool:
        if not self.is_done and self._event is not None:
            self.is_done = bool(self._event.query())
        return self.is_done


class _Lane:
    """One stream: its copies since the last mark share the next one."""

    __slots__ = ("last_mark", "next", "stream", "used")

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.next = _Mark()
        self.used = False
        self.last_mark = 0.0

    def mark(self, torch: ModuleType) -> None:
        self.next.set(torch, self.stream)
        self.next = _Mark()
        self.used = False
        self.last_mark = clocks.monotonic()


class CopyRoom:
    """The pinned slots and streams of one run."""

    def __init__(self) -> None:
        self._free: dict[tuple[Any, int], list[Any]] = {}
        self._lanes: dict[tuple[Any, int], _Lane] = {}

    def take_slot(self, torch: ModuleType, dtype: Any, count: int) -> Any:
        free = self._free.setdefault((dtype, count), [])
        try:
            return free.pop()
        except IndexError:
            shape = (SLAB, count) if count > 1 else (SLAB,)
            free.extend(torch.empty(shape, dtype=dtype, device="cpu", pin_memory=True).unbind(0))
            return free.pop()

    def give_back(self, slot: Any, dtype: Any, count: int) -> None:
        self._free[dtype, count].append(slot)

    def mark_for(self, torch: ModuleType, device: Any) -> _Mark:
        """The mark that will cover what was just queued on the device's current stream."""
        stream = torch.cuda.current_stream(device)
        lane = self._lanes.get((device, stream.cuda_stream))
        if lane is None:
            lane = self._lanes[device, stream.cuda_stream] = _Lane(stream)
        mark = lane.next
        lane.used = True
        if clocks.monotonic() - lane.last_mark >= MARK_EVERY_S:
            lane.mark(torch)
        return mark

    def mark_all(self) -> None:
        """Mark everything that has no mark yet: no later call may come to do so."""
        torch = sys.modules.get("torch")
        for lane in list(self._lanes.values()):
            if lane.used and torch is not None:
                lane.mark(torch)


class AsyncCopy:
    """Values of one CUDA device and dtype on their way to pinned memory."""

    __slots__ = ("_dtype", "_mark", "_room", "_slot", "places")

    def __init__(self, torch: ModuleType, places: list[int], tensors: list[Any], room: CopyRoom) -> None:
        self.places = places
        first = tensors[0]
        self._room, self._dtype = room, first.dtype
        self._slot = room.take_slot(torch, first.dtype, len(tensors))
        with torch.no_grad():  # the copy must not become part of a captured graph
            numbers = [each if each.ndim == 0 else each.reshape(()) for each in tensors]
            self._slot.copy_(torch.stack(numbers) if len(numbers) > 1 else numbers[0], non_blocking=True)
        self._mark = room.mark_for(torch, first.device)

    def is_ready(self) -> bool:
        return self._mark.check()

    def read(self) -> list[Any]:
        values = self._slot.tolist()
        self._room.give_back(self._slot, self._dtype, len(self.places))
        return values if isinstance(values, list) else [values]
