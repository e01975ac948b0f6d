"""Every random number generator a training may draw from: taken, and put back exactly."""

from __future__ import annotations

import ctypes
import random
import struct
import sys
from typing import Any

import torch

__all__ = ["put_back", "taken"]

_WORDS = 625
_MT19937_BYTES = _WORDS * 4
"""624 words and the place in them."""


def taken() -> dict[str, Any]:
    """The state of Python's, numpy's (if it is in use), torch's and each CUDA device's generator.

    Torch's as bytes, not as a tensor: it is kept for a whole step, in which a script may count the tensors alive.
    """
    with torch._C.DisableTorchFunction():  # a function mode of the script's must not see how the tensor is queried
        own = torch.default_generator.get_state()
        words = ctypes.string_at(own.data_ptr(), own.numel())
    state: dict[str, Any] = {"python": _pythons.taken(), "torch": words}
    if "numpy.random" in sys.modules:  # newer numpy imports it when it is first used, which must not be by us
        state["numpy"] = _numpys.taken(sys.modules["numpy.random"])
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        state["cuda"] = torch.cuda.get_rng_state_all()
    return state


class _Pythons:
    """Python's state, a tuple of 625 numbers, which is made again only if something was drawn: its memory tells."""

    def __init__(self) -> None:
        self._seen = b""
        self._state: Any = None
        self._address = self._find()

    def _find(self) -> int | None:
        """Where CPython keeps the words, if it is where we think."""
        source = random.__dict__.get("_inst")
        if type(source) is not random.Random or sys.implementation.name != "cpython":
            return None
        address = id(source) + object.__basicsize__
        words = source.getstate()[1]
        found = struct.unpack(f"={_WORDS}I", ctypes.string_at(address, _MT19937_BYTES))
        return address if found == (words[-1], *words[:-1]) else None

    def taken(self) -> Any:
        if self._address is None:
            return random.getstate()
        now = ctypes.string_at(self._address, _MT19937_BYTES)
        if now != self._seen or self._state[2] is not None:  # the second of a pair of normal numbers is waiting
            self._seen, self._state = now, random.getstate()
        return self._state

    def is_as_taken(self, state: Any) -> bool:
        """Whether nothing was drawn since this was taken."""
        if self._address is None or state is not self._state or state[2] is not None:
            return False
        return ctypes.string_at(self._address, _MT19937_BYTES) == self._seen


class _Numpys:
    """numpy's state, which is slow to ask for (30 microseconds), so at each step only if something was drawn.

    The generator's memory tells: a draw changes it, but for the second of a pair of normal numbers, which is waiting.
    """

    def __init__(self) -> None:
        self.seen: tuple[int, bytes] | None = None
        self._state: Any = None
        self._bits: Any = None
        self._address = 0

    def taken(self, numpy_random: Any) -> Any:
        source = getattr(getattr(numpy_random, "mtrand", None), "_rand", None)
        bits = getattr(source, "_bit_generator", None)
        if bits is None or type(bits).__name__ != "MT19937":
            return numpy_random.get_state()
        if bits is not self._bits:
            self._bits, self._address = bits, bits.ctypes.state_address
        address = self._address
        now = (address, ctypes.string_at(address, _MT19937_BYTES))
        if now != self.seen or self._state[3]:
            self.seen, self._state = now, numpy_random.get_state()
        return self._state

    def is_as_taken(self, state: Any, numpy_random: Any) -> bool:
        """Whether nothing was drawn since this was taken."""
        source = getattr(getattr(numpy_random, "mtrand", None), "_rand", None)
        if self.seen is None or state is not self._state or state[3]:
            return False
        if getattr(source, "_bit_generator", None) is not self._bits:
            return False
        return ctypes.string_at(self._address, _MT19937_BYTES) == self.seen[1]


_numpys = _Numpys()
_pythons = _Pythons()


def put_back(state: dict[str, Any]) -> None:
    if not _pythons.is_as_taken(state["python"]):
        random.setstate(state["python"])
    own = state["torch"]  # a tensor in capsules that were written before it was kept as bytes
    torch.default_generator.set_state(own if isinstance(own, torch.Tensor) else _as_tensor(own))
    if "numpy" in state:
        import numpy.random  # a capsule may be put back in a process that has drawn nothing yet

        if not _numpys.is_as_taken(state["numpy"], numpy.random):
            _numpys.seen = None
            numpy.random.set_state(state["numpy"])
    if "cuda" in state:
        torch.cuda.set_rng_state_all(state["cuda"])


def _as_tensor(state: bytes) -> torch.Tensor:
    with torch._C.DisableTorchFunction():
        made = torch.default_generator.get_state()  # not `torch.empty`, which may be the script's own
        if made.numel() != len(state):
            raise ValueError(f"the state of torch's generator has {made.numel()} bytes here, {len(state)} were saved")
        ctypes.memmove(made.data_ptr(), state, len(state))
    return made
