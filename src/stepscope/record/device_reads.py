"""Numbers on their way from a device: sent with the step that made them, received when they are there."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import torch

from stepscope.events.aside import is_capturing
from stepscope.events.unpatched_torch import raw

_ROOM = 8


class _Box:
    """Pinned memory, and the event after the copies into it; used again and again, since making either is slow."""

    __slots__ = ("buffer", "event", "slots")

    def __init__(self) -> None:
        self.buffer = raw.empty(_ROOM, dtype=torch.float32, pin_memory=True)
        self.slots = self.buffer.unbind()
        self.event: Any = torch.cuda.Event()  # type: ignore[no-untyped-call]


class _Parcel:
    __slots__ = ("box", "device", "host", "names", "numbers", "what")

    def __init__(self, what: Any) -> None:
        self.what = what
        self.numbers: dict[str, float | None] = {}
        self.names: list[str] = []
        self.device: Any = None
        self.box: _Box | None = None
        self.host: Any = None


class Arrivals:
    """A queue of small groups of numbers: those on the host are there at once, others when the device gets to them."""

    def __init__(self) -> None:
        self.queue: deque[_Parcel] = deque()
        """What is on its way."""
        self._free: dict[Any, list[_Box]] = {}
        """By device: an event belongs to the one it was first recorded on."""

    def send(self, what: Any, numbers: dict[str, Any]) -> bool:
        """Start the copy of whatever lies on a device into pinned memory; nothing waits for it.

        Says whether all of it was on the host.
        """
        parcel = _Parcel(what)
        far: list[Any] = []
        for name, value in numbers.items():
            if isinstance(value, torch.Tensor) and not value.is_cpu:
                parcel.names.append(name)
                far.append(raw.detach(value).reshape(()) if value.dim() else value)
            else:
                parcel.numbers[name] = None if value is None else _number(value)
        if far and not self._ship(parcel, far):
            return False
        self.queue.append(parcel)
        return not far

    def _ship(self, parcel: _Parcel, far: list[Any]) -> bool:
        device = parcel.device = far[0].device
        if device.type != "cuda":  # no events to ask: read one step late, when it is done in all likelihood
            parcel.host = raw.stack([raw.to(raw.float(raw.detach(value)), device, non_blocking=True) for value in far])
            return True
        if is_capturing():
            return False  # our copy would become part of the user's graph
        free = self._free.get(device)
        box = parcel.box = free.pop() if free else _Box()
        for slot, value in zip(box.slots, far, strict=False):
            slot.copy_(value if value.device == device else raw.to(value, device, non_blocking=True), non_blocking=True)
        box.event.record(torch.cuda.current_stream(device))
        parcel.host = box.buffer
        return True

    def receive(self, wait: bool) -> Iterator[tuple[Any, dict[str, float | None]]]:
        """What has arrived, in order; with `wait` everything. Asking breaks the capture of a graph, so nothing then."""
        while self.queue and not is_capturing():
            parcel = self.queue[0]
            box = parcel.box
            if box is not None:
                if wait:
                    box.event.synchronize()
                elif not box.event.query():
                    return
            elif parcel.host is not None and not wait and len(self.queue) < 2:
                return
            self.queue.popleft()
            if parcel.host is not None:
                parcel.numbers.update(zip(parcel.names, raw.tolist(parcel.host), strict=False))
            if box is not None:
                self._free.setdefault(parcel.device, []).append(box)
            yield parcel.what, parcel.numbers


def _number(value: Any) -> float:
    return float(raw.item(value) if isinstance(value, torch.Tensor) else value)
