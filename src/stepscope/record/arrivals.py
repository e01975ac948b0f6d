"""Numbers on their way from a device: sent with the step that made them, received when they are there."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import torch

__all__ = ["Arrivals"]


class _Parcel:
    __slots__ = ("buffer", "event", "host", "names", "numbers", "what")

    def __init__(self, what: Any, numbers: dict[str, float | None]) -> None:
        self.what = what
        self.numbers = numbers
        self.names: list[str] = []
        self.buffer: Any = None
        self.host: Any = None
        self.event: Any = None


class Arrivals:
    """A queue of small groups of numbers: those on the host are there at once, others when the device gets to them."""

    def __init__(self) -> None:
        self._queue: deque[_Parcel] = deque()
        self._free: list[Any] = []

    def send(self, what: Any, numbers: dict[str, Any]) -> None:
        """Start the copy of whatever lies on a device into pinned memory; nothing waits for it."""
        parcel = _Parcel(what, {})
        far: list[Any] = []
        for name, value in numbers.items():
            if isinstance(value, torch.Tensor) and value.device.type != "cpu":
                parcel.names.append(name)
                far.append(value.detach().reshape(()).float())
            else:
                parcel.numbers[name] = None if value is None else float(value)
        if far:
            device = far[0].device
            if device.type == "cuda" and torch.cuda.is_current_stream_capturing():
                return  # our copy would become part of the user's graph
            together = torch.stack([value.to(device, non_blocking=True) for value in far])
            if device.type == "cuda":
                parcel.buffer = self._buffer()
                parcel.host = parcel.buffer[: len(far)]
                parcel.host.copy_(together, non_blocking=True)
                parcel.event = torch.cuda.Event()  # type: ignore[no-untyped-call]
                parcel.event.record(torch.cuda.current_stream(device))
            else:
                parcel.host = together  # no events to ask: read one step late, when it is done in all likelihood
        self._queue.append(parcel)

    def _buffer(self) -> Any:
        return self._free.pop() if self._free else torch.empty(8, dtype=torch.float32, pin_memory=True)

    def receive(self, wait: bool) -> Iterator[tuple[Any, dict[str, float | None]]]:
        """What has arrived, in order; with `wait` everything."""
        while self._queue:
            parcel = self._queue[0]
            if parcel.event is not None:
                if wait:
                    parcel.event.synchronize()
                elif not parcel.event.query():
                    return
            elif parcel.host is not None and not wait and len(self._queue) < 2:
                return
            self._queue.popleft()
            if parcel.host is not None:
                parcel.numbers.update(zip(parcel.names, parcel.host.tolist(), strict=True))
                if parcel.buffer is not None:
                    self._free.append(parcel.buffer)
            yield parcel.what, parcel.numbers
