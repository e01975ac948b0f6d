"""`wandb.watch`: histograms of gradients and parameters every so many batches. Nothing is changed or kept alive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stepscope import fence
from stepscope.track.media import Histogram
from stepscope.track.messages import say_once

__all__ = ["Watch"]

BINS = 64


class Watch:
    """The hooks of one run on the models it watches."""

    def __init__(self, log: Callable[[dict[str, Any]], None]) -> None:
        self._log = log
        self._hooks: dict[int, list[Any]] = {}
        self._count = 0

    @fence.fenced("wandb.watch()")
    def add(self, models: Any, log: str | None, log_freq: int, idx: int | None) -> None:
        if log not in ("gradients", "parameters", "all", None):
            say_once(("wandb", "watch"), f"wandb.watch(log={log!r}) is unknown; use 'gradients', 'parameters' or 'all'")
            return
        listed = list(models) if isinstance(models, list | tuple) else [models]
        for number, model in enumerate(listed):
            if not hasattr(model, "named_parameters"):
                kind = type(model).__name__
                say_once(("wandb", "watch"), f"wandb.watch() was given a {kind}, which is no torch.nn.Module")
                continue
            if id(model) in self._hooks:
                say_once(("wandb", "watch twice"), "wandb.watch() was called twice for one model; the first call holds")
                continue
            place = self._count if idx is None else idx + number
            self._count += 1
            prefix = "" if place == 0 else f"graph_{place}"
            self._hooks[id(model)] = self._hook(model, prefix, log, max(1, int(log_freq)))

    def _hook(self, model: Any, prefix: str, log: str | None, every: int) -> list[Any]:
        handles: list[Any] = []
        if log in ("parameters", "all"):
            turn = _Turn(every)

            def after_forward(module: Any, _inputs: Any, _outputs: Any) -> None:
                if turn.is_due():
                    fence.call("wandb.watch()", self._parameters, module, prefix)

            handles.append(model.register_forward_hook(after_forward))
        if log in ("gradients", "all"):
            for name, parameter in model.named_parameters():
                if parameter.requires_grad:
                    handles.append(parameter.register_hook(self._on_gradient(f"gradients/{prefix}{name}", every)))
        return handles

    def _on_gradient(self, name: str, every: int) -> Callable[[Any], None]:
        turn = _Turn(every)

        def on_gradient(gradient: Any) -> None:
            if turn.is_due():
                fence.call("wandb.watch()", self._gradient, name, gradient)

        return on_gradient

    def _parameters(self, model: Any, prefix: str) -> None:
        self._log({f"parameters/{prefix}{name}": Histogram(each, BINS) for name, each in model.named_parameters()})

    def _gradient(self, name: str, gradient: Any) -> None:
        self._log({name: Histogram(gradient, BINS)})

    @fence.fenced("wandb.unwatch()")
    def remove(self, models: Any) -> None:
        """Take the hooks away from these models, or from all."""
        if models is None:
            known = list(self._hooks)
        else:
            known = [id(model) for model in (models if isinstance(models, Sequence) else [models])]
        for model in known:
            for handle in self._hooks.pop(model, ()):
                handle.remove()


class _Turn:
    """Every so many calls it is somebody's turn."""

    def __init__(self, every: int) -> None:
        self._every = every
        self._calls = 0

    def is_due(self) -> bool:
        self._calls += 1
        if self._calls < self._every:
            return False
        self._calls = 0
        return True
