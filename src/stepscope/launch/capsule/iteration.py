"""What one turn of the training loop has used so far: references and random states, nothing that costs.

A turn begins when a loader gives a batch, or, where no loader is in use, at the first call of a model after an update.
"""

from __future__ import annotations

import weakref
from typing import Any

import torch

from stepscope.record import random_state
from stepscope.record.arguments import tensors_in
from stepscope.record.sites import Place

__all__ = ["Buffers", "Call", "Turn"]

_SMALL_BUFFER = 1 << 16
_MOST_MODELS = 16
_MOST_BUFFER_BYTES = 64 << 20


class Call:
    """The first call of a root module in this turn."""

    def __init__(self, module: Any, place: Place | None) -> None:
        self.module = weakref.ref(module)
        self.kind = f"{type(module).__module__}.{type(module).__qualname__}"
        self.place = place
        self.training = bool(module.training)


class Turn:
    """One turn of the loop. Only the newest is kept."""

    def __init__(self) -> None:
        self.place: Place | None = None
        """Where it began."""
        self.batches: list[Any] = []
        self._loaders: set[int] = set()
        self.versions: list[int] = []
        self.random: dict[str, Any] | None = None
        self.random_later: dict[str, Any] | None = None
        self.calls: list[Call] = []
        self.arguments: tuple[Any, Any] | None = None
        self.steps_taken = 0
        self.used = False
        """A model was called or an optimizer stepped: the next batch begins a new turn."""
        self._stepped = False

    def is_followed_by(self, loader: int) -> bool:
        """Whether a batch of this loader begins the next turn; `zip(a, b)` takes several for one."""
        return self.used or loader in self._loaders

    def take_batch(self, batch: Any, place: Place | None, loader: int) -> None:
        if not self.batches:
            self.place = place
        self._loaders.add(loader)
        self.batches.append(batch)
        self.versions += [tensor._version for tensor in tensors_in(batch) if not tensor.is_inference()]
        self.random = random_state.taken()

    @property
    def is_over(self) -> bool:
        """Its last optimizer step is done, and no model was called since."""
        return self._stepped

    def begins_anew(self, place: Place | None, grad: bool) -> bool:
        """Without a loader: whether a call from here is the next turn of the loop."""
        if self.batches or not self.calls or self.calls[0].place != place:
            return False
        return self.steps_taken > 0 or not grad

    def call(self, module: Any, args: Any, kwargs: Any, place: Place | None) -> bool:
        """Note the call of a root module; whether it is its first in this turn."""
        self.used = True
        if not self.calls:
            if self.random is None:
                self.place, self.random = place, random_state.taken()
            if not any(tensor.grad_fn is not None for tensor in tensors_in((args, kwargs))):  # keep no graph alive
                self.arguments = (args, kwargs)
        if self._stepped:
            self.random_later, self._stepped = random_state.taken(), False
        if len(self.calls) >= _MOST_MODELS or any(call.module() is module for call in self.calls):
            return False
        self.calls.append(Call(module, place))
        return True

    def stepped(self) -> None:
        self.used = self._stepped = True
        self.steps_taken += 1
        if not self.batches:
            self.arguments = None  # the script is about to make the next ones; do not hold two at a time


class Buffers:
    """Copies of a model's buffers as they were before its forward, which changes some of them.

    Large ones are copied only when something has written to them; norm layers write without saying so, but theirs
    are small.
    """

    def __init__(self) -> None:
        self._copies: weakref.WeakKeyDictionary[Any, dict[str, tuple[Any, int]]] = weakref.WeakKeyDictionary()

    def note(self, module: Any) -> None:
        known = self._copies.setdefault(module, {})
        room = _MOST_BUFFER_BYTES
        into, out_of = [], []
        for name, buffer in module.named_buffers():
            if buffer is None or buffer.layout is not torch.strided or buffer.device.type == "meta":
                continue
            room -= buffer.numel() * buffer.element_size()
            if room < 0:
                return
            copy, version = known.get(name, (None, -1))
            now = -1 if buffer.is_inference() else buffer._version
            if copy is None or copy.shape != buffer.shape or copy.dtype != buffer.dtype or copy.device != buffer.device:
                known[name] = buffer.detach().clone(), now
            elif buffer.numel() <= _SMALL_BUFFER or version != now:
                known[name] = copy, now
                into.append(copy)
                out_of.append(buffer.detach())
        if into:
            torch._foreach_copy_(into, out_of)

    def of(self, module: Any) -> dict[str, Any]:
        return {name: copy for name, (copy, _) in self._copies.get(module, {}).items()}
