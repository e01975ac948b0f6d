"""Short texts that are the same for the same values. On a device they are computed there, and read late."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable
from typing import Any

import torch

from stepscope.events.aside import is_capturing
from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.record.statistics import is_transformed

_ELEMENTS = 4096
_VALUES = 4
_ODD = 0x9E3779B97F4A7C15 - 2**64
"""Weights of neighbors must differ in all bits, so that swapped values change the sum."""

Fingerprint = tuple[str, list[float]]
"""A digest, and a few of the values."""


def digest_of(tensors: list[Any]) -> str | None:
    """A digest of values on the host; None where there are none."""
    digest = hashlib.blake2b(digest_size=8)
    seen = False
    with quietly():
        for tensor in tensors:
            if tensor.device.type == "cpu" and _is_plain(tensor):
                digest.update(f"{tuple(tensor.shape)}{tensor.dtype}".encode())
                digest.update(raw.numpy(_bytes(tensor)).tobytes())
                seen = True
    return digest.hexdigest() if seen else None


def some_values(tensor: Any) -> list[float]:
    """A few values of a tensor on the host."""
    with quietly():
        return [float(value) for value in raw.tolist(raw.double(_few(tensor)))]


class Fingerprints:
    """Those that were asked for. Nothing waits for a device: ask `deliver` at later events."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Any, Any, list[Any], Callable[[list[Fingerprint]], None]]] = deque()

    def ask(self, tensors: list[Any], then: Callable[[list[Fingerprint]], None]) -> None:
        """Call `then` with the fingerprint of each tensor: at once on the host, later on a device.

        A tensor that has no plain values gets the digest "".
        """
        on_cuda = [one for one in tensors if one.device.type == "cuda" and _is_plain(one)]
        if not on_cuda:
            then([_here(one) for one in tensors])
        elif not is_capturing() and len({one.device for one in on_cuda}) == 1:
            self._send(tensors, then)

    def _send(self, tensors: list[Any], then: Callable[[list[Fingerprint]], None]) -> None:
        with quietly():
            rows = [_on_device(one) for one in tensors if one.device.type == "cuda" and _is_plain(one)]
            row = raw.cat(rows)
            host = raw.empty(row.numel(), dtype=torch.int64, pin_memory=True)
            raw.copy_(host, row, non_blocking=True)
        event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        event.record(torch.cuda.current_stream(row.device))
        far = [_shape(one) if one.device.type == "cuda" and _is_plain(one) else _here(one) for one in tensors]
        self._waiting.append((event, host, far, then))

    def deliver(self, wait: bool = False) -> None:
        """Hand over what has arrived; with `wait` everything."""
        while self._waiting and not is_capturing():
            event, host, parts, then = self._waiting[0]
            if wait:
                event.synchronize()
            elif not event.query():
                return
            self._waiting.popleft()
            then(_parted(host, parts))


def _is_plain(tensor: Any) -> bool:
    return tensor.layout is torch.strided and not is_transformed(tensor)


def _shape(tensor: Any) -> str:
    return f"{tuple(tensor.shape)}{tensor.dtype}"


def _here(tensor: Any) -> Fingerprint:
    digest = digest_of([tensor])
    return ("", []) if digest is None else (digest, some_values(tensor))


def _sampled(tensor: Any) -> Any:
    flat = raw.detach(tensor).reshape(-1)
    return flat[:: flat.numel() // _ELEMENTS] if flat.numel() > _ELEMENTS else flat


def _bytes(tensor: Any) -> Any:
    return _sampled(tensor).contiguous().resolve_conj().view(torch.uint8)


def _few(tensor: Any) -> Any:
    flat = raw.detach(tensor).reshape(-1)
    few = flat[:: max(1, flat.numel() // _VALUES)][:_VALUES]
    return raw.real(few) if few.is_complex() else few


def _on_device(tensor: Any) -> Any:
    """One sum over all bytes, each with a weight of its own, and the bits of a few values: whole numbers only."""
    values = raw.to(_bytes(tensor), torch.int64)
    weights = (raw.arange(values.numel(), device=values.device) + 1) * _ODD
    total = raw.sum((values + 1) * weights).reshape(1)
    few = raw.zeros(_VALUES, dtype=torch.float64, device=values.device)
    found = raw.to(_few(tensor), torch.float64)
    few[: found.numel()] = found
    return raw.cat([total, few.view(torch.int64)])


def _parted(host: Any, parts: list[Any]) -> list[Fingerprint]:
    found: list[Fingerprint] = []
    with quietly():
        rows = iter(host.reshape(-1, 1 + _VALUES))
        for part in parts:
            if isinstance(part, tuple):
                found.append(part)
                continue
            row = next(rows)
            digest = hashlib.blake2b(f"{part}{int(raw.item(row[0]))}".encode(), digest_size=8)
            found.append((digest.hexdigest(), raw.tolist(row[1:].view(torch.float64))))
    return found
