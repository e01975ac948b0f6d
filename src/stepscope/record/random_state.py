"""Every random number generator a training may draw from: taken, and put back exactly."""

from __future__ import annotations

import ctypes
import random
import sys
from typing import Any

import torch

__all__ = ["put_back", "taken"]

_MT19937_BYTES = 625 * 4
"""624 words and the place in them."""


def taken() -> dict[str, Any]:
    """The state of Python's, numpy's (if it is in use), torch's and each CUDA device's generator."""
    state: dict[str, Any] = {"python": random.getstate(), "torch": torch.get_rng_state()}
    if "numpy" in sys.modules:
        state["numpy"] = _numpys.taken(sys.modules["numpy"].random)
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        state["cuda"] = torch.cuda.get_rng_state_all()
    return state


class _Numpys:
    """numpy's state, which is slow to ask for (30 microseconds), so at each step only if something was drawn.

    The generator's memory tells: a draw changes it, but for the second of a pair of normal numbers, which is waiting.
    """

    def __init__(self) -> None:
        self.seen: tuple[int, bytes] | None = None
        self._state: Any = None

    def taken(self, numpy_random: Any) -> Any:
        source = getattr(getattr(numpy_random, "mtrand", None), "_rand", None)
        bits = getattr(source, "_bit_generator", None)
        if bits is None or type(bits).__name__ != "MT19937":
            return numpy_random.get_state()
        address = bits.ctypes.state_address
        now = (address, ctypes.string_at(address, _MT19937_BYTES))
        if now != self.seen or self._state[3]:
            self.seen, self._state = now, numpy_random.get_state()
        return self._state


_numpys = _Numpys()


def put_back(state: dict[str, Any]) -> None:
    random.setstate(state["python"])
    torch.set_rng_state(state["torch"])
    if "numpy" in state:
        _numpys.seen = None
        sys.modules["numpy"].random.set_state(state["numpy"])
    if "cuda" in state:
        torch.cuda.set_rng_state_all(state["cuda"])
