"""What one turn of the training loop has used so far: references and random states, nothing that costs.

A turn begins when a loader gives a batch, or, where no loader is in use, at the first call of a model after an update.
"""

from __future__ import annotations

import weakref
from typing import Any

import torch

from stepscope.events.unpatched_torch import raw
from stepscope.record import random_state
from stepscope.record.arguments import tensors_in
from stepscope.records.place import Place

_SMALL_BUFFER = 1 << 16
_MOST_MODELS = 16
_MOST_BUFFER_BYTES = 64 << 20
_LOOK_AGAIN = 200
_COUNTERS = {"num_batches_tracked"}
"""Buffers that no output depends on."""


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
        self.loader_made: Place | None = None
        """Where the loader of its first batch was made."""
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

    def take_batch(self, batch: Any, place: Place | None, loader: int, made: Place | None) -> None:
        if not self.batches:
            self.place, self.loader_made = place, made
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

    def has_called(self, module: Any) -> bool:
        """Whether a call of this model says nothing new: it was called in this iteration, which continues."""
        if self._stepped or not self.batches:
            return False
        return any(call.module() is module for call in self.calls)

    def call(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], place: Place | None) -> bool:
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


class _Kept:
    """The buffers of one model: where they hang, and copies of them."""

    def __init__(self, module: Any) -> None:
        self.uses = 0
        self.homes = [
            (f"{path}.{key}" if path else key, part._buffers, key, value)
            for path, part in module.named_modules()
            for key, value in part._buffers.items()
            if value is not None and key not in _COUNTERS and _can_be_copied(value)
        ]
        room = _MOST_BUFFER_BYTES
        self.copies: dict[str, Any] = {}
        self.small: dict[Any, tuple[list[Any], list[Any]]] = {}
        self.large: list[list[Any]] = []
        for name, _, _, value in self.homes:
            room -= value.numel() * value.element_size()
            if room < 0:
                break
            copy = self.copies[name] = raw.clone(raw.detach(value))
            if value.numel() <= _SMALL_BUFFER:
                into, out_of = self.small.setdefault((value.device, value.dtype), ([], []))
                into.append(copy)
                out_of.append(raw.detach(value))
            else:
                self.large.append([copy, value, _version(value)])

    def is_current(self) -> bool:
        """Whether the same tensors still hang in the same places; the tree itself is looked at now and then."""
        self.uses += 1
        return self.uses % _LOOK_AGAIN != 0 and all(home.get(key) is value for _, home, key, value in self.homes)

    def renew(self) -> None:
        for into, out_of in self.small.values():
            raw._foreach_copy_(into, out_of)
        for entry in self.large:
            now = _version(entry[1])
            if now != entry[2]:
                entry[0].copy_(entry[1])
                entry[2] = now


def _can_be_copied(value: Any) -> bool:
    return value.layout is torch.strided and value.device.type != "meta" and type(value) is torch.Tensor


def _version(value: Any) -> int:
    return -1 if value.is_inference() else int(value._version)


class Buffers:
    """Copies of the models' buffers as they were before their forward, which changes some of them.

    Large ones are copied only when something has written to them; norm layers write without saying so, but theirs
    are small.
    """

    def __init__(self) -> None:
        self._kept: weakref.WeakKeyDictionary[Any, _Kept] = weakref.WeakKeyDictionary()

    def note(self, module: Any) -> None:
        kept = self._kept.get(module)
        if kept is None or not kept.is_current():
            self._kept[module] = _Kept(module)
        elif kept.copies:
            kept.renew()

    def of(self, module: Any) -> dict[str, Any]:
        kept = self._kept.get(module)
        return {} if kept is None else kept.copies
