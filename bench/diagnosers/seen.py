"""Finds a script's models and optimizers from outside, for peers that want to be handed both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.optim.optimizer as torch_optimizer


class Seen:
    """Calls `on_pair(module, optimizer)` before the first call of each root module whose parameters an optimizer holds.

    With a user's own hands this would be the line after both were made. `on_step` hears of every optimizer step, with
    the value of the loss that backward ran on last.
    """

    def __init__(self, on_pair: Callable[[Any, Any], None], on_step: Callable[[Any, float | None], None]) -> None:
        self._on_pair, self._on_step = on_pair, on_step
        self._optimizers: list[Any] = []
        self._known: list[Any] = []
        self._depth = 0
        self._inside = False
        self.losses: list[float] = []
        self.quiet_losses: list[float] = []
        """Values of losses computed while gradients were off: what a user would log of an evaluation."""
        self._watch_optimizers()
        self._watch_calls()
        self._watch_backward()

    def _watch_optimizers(self) -> None:
        seen, init = self, torch.optim.Optimizer.__init__

        def made(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            init(optimizer, *args, **kwargs)
            seen._optimizers.append(optimizer)

        torch.optim.Optimizer.__init__ = made  # type: ignore[method-assign]
        torch_optimizer.register_optimizer_step_post_hook(lambda optimizer, args, kwargs: self._stepped(optimizer))

    def _stepped(self, optimizer: Any) -> None:
        self._on_step(optimizer, self.losses[-1] if self.losses else None)

    def _watch_calls(self) -> None:
        seen, call = self, torch.nn.Module.__call__

        def called(module: Any, *args: Any, **kwargs: Any) -> Any:
            if not seen._depth and not seen._inside:
                seen._root(module)
            seen._depth += 1
            try:
                result = call(module, *args, **kwargs)
            finally:
                seen._depth -= 1
            if not torch.is_grad_enabled() and isinstance(module, torch.nn.modules.loss._Loss):
                seen.quiet_losses.append(float(result.detach().sum()))
            return result

        torch.nn.Module.__call__ = called  # type: ignore[method-assign]

    def _root(self, module: Any) -> None:
        if any(module is known for known in self._known):
            return
        own = {id(parameter) for parameter in module.parameters()} if "_parameters" in module.__dict__ else set()
        for optimizer in self._optimizers:
            if own & {id(p) for group in optimizer.param_groups for p in group["params"]}:
                self._known.append(module)
                self._inside = True
                try:
                    self._on_pair(module, optimizer)
                finally:
                    self._inside = False
                return

    def _watch_backward(self) -> None:
        seen, backward = self, torch.Tensor.backward

        def ran(loss: Any, *args: Any, **kwargs: Any) -> Any:
            result = backward(loss, *args, **kwargs)
            if loss.numel() == 1:
                seen.losses.append(float(loss.detach()))
            return result

        torch.Tensor.backward = ran  # type: ignore[method-assign]
