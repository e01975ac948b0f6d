"""The stack of torch's function modes, on which those of the script may lie above ours."""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["take_off"]


def take_off(mode: Any) -> None:
    """Remove a mode from anywhere in the stack: a `with torch.device(...)` of the user may be above it."""
    stack: list[Any] = torch.overrides.__dict__["_get_current_function_mode_stack"]()
    if mode not in stack:
        return
    pop, push = torch.overrides.__dict__["_pop_mode"], torch.overrides.__dict__["_push_mode"]
    above = []
    while (top := pop()) is not mode:
        above.append(top)
    for other in reversed(above):
        push(other)
