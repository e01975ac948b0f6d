"""Hooks on single tensors and modules, where the user asked for them (`wandb.watch`): fenced, and easy to remove."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stepscope import fence


def on_gradient(tensor: Any, who: str, heard: Callable[[Any], object]) -> Callable[[], None]:
    """Call `heard(gradient)` for each gradient that arrives at a tensor."""

    def gradient_hook(gradient: Any) -> None:
        fence.call(who, heard, gradient)

    undo: Callable[[], None] = tensor.register_hook(gradient_hook).remove
    return undo


def after_forward(module: Any, who: str, heard: Callable[[Any], object]) -> Callable[[], None]:
    """Call `heard(module)` after each call of a module."""

    def forward_hook(module: Any, inputs: Any, outputs: Any) -> None:
        fence.call(who, heard, module)

    undo: Callable[[], None] = module.register_forward_hook(forward_hook).remove
    return undo
