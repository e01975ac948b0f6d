"""Every random number generator a training may draw from: taken, and put back exactly."""

from __future__ import annotations

import random
import sys
from typing import Any

import torch

__all__ = ["put_back", "taken"]


def taken() -> dict[str, Any]:
    """The state of Python's, numpy's (if it is in use), torch's and each CUDA device's generator."""
    state: dict[str, Any] = {"python": random.getstate(), "torch": torch.get_rng_state()}
    if "numpy" in sys.modules:
        state["numpy"] = sys.modules["numpy"].random.get_state()
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        state["cuda"] = torch.cuda.get_rng_state_all()
    return state


def put_back(state: dict[str, Any]) -> None:
    random.setstate(state["python"])
    torch.set_rng_state(state["torch"])
    if "numpy" in state:
        sys.modules["numpy"].random.set_state(state["numpy"])
    if "cuda" in state:
        torch.cuda.set_rng_state_all(state["cuda"])
