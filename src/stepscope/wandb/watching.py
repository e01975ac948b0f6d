"""`wandb.watch`: histograms of gradients and parameters every few batches. Nothing is changed or kept alive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stepscope import fence
from stepscope.events.hooks import after_forward, on_gradient
from stepscope.track.media import Histogram
from stepscope.track.messages import say_once

BINS = 64
WHO = "wandb.watch()"


class Watch:
    """The hooks of one run on the models it watches."""

    def __init__(self, log: Callable[[dict[str, Any]], None]) -> None:
        self._log = log
        self._hooks: dict[int, list[Callable[[], None]]] = {}
        self._count = 0

    @fence.fenced(WHO)
    def add(self, models: Any, log: str | None, log_freq: int, idx: int | None) -> None:
        if log not in ("gradients", "parameters", "all", None):
            say_once(("wandb", "watch"), f"wandb.watch(log={log!r}) is unknown; use 'gradients', 'parameters' or 'all'")
            return
        listed = list(models) if isinstance(models, list | tuple) else [models]
        for number, model in enumerate(listed):
            if not hasattr(model, "named_parameters"):
                kind = type(model).__name__
                say_once(("wandb", "watch"), f"wandb.watch() was given a {kind}, which is not a torch.nn.Module")
                continue
            if id(model) in self._hooks:
                say_once(
                    ("wandb", "watch twice"), "wandb.watch() was called twice for one model; the first call applies"
                )
                continue
            place = self._count if idx is None else idx + number
            self._count += 1
            prefix = "" if place == 0 else f"graph_{place}"
            self._hooks[id(model)] = self._hook(model, prefix, log, max(1, int(log_freq)))

    def _hook(self, model: Any, prefix: str, log: str | None, every: int) -> list[Callable[[], None]]:
        undo: list[Callable[[], None]] = []
        if log in ("parameters", "all"):
            turn = _Turn(every)

            def parameters(module: Any) -> None:
                if turn.is_due():
                    self._parameters(module, prefix)

            undo.append(after_forward(model, WHO, parameters))
        if log in ("gradients", "all"):
            for name, parameter in model.named_parameters():
                if parameter.requires_grad:
                    heard = self._on_gradient(f"gradients/{prefix}{name}", every)
                    undo.append(on_gradient(parameter, WHO, heard))
        return undo

    def _on_gradient(self, name: str, every: int) -> Callable[[Any], None]:
        turn = _Turn(every)

        def heard(gradient: Any) -> None:
            if turn.is_due():
                self._gradient(name, gradient)

        return heard

    def _parameters(self, model: Any, prefix: str) -> None:
        self._log({f"parameters/{prefix}{name}": Histogram(each, BINS) for name, each in model.named_parameters()})

    def _gradient(self, name: str, gradient: Any) -> None:
        self._log({name: Histogram(gradient, BINS)})

    @fence.fenced("wandb.unwatch()")
    def remove(self, models: Any) -> None:
        """Remove the hooks from these models, or from all."""
        if models is None:
            known = list(self._hooks)
        else:
            known = [id(model) for model in (models if isinstance(models, Sequence) else [models])]
        for model in known:
            for undo in self._hooks.pop(model, ()):
                undo()


class _Turn:
    """Whether it is time to log again."""

    def __init__(self, every: int) -> None:
        self._every = every
        self._calls = 0

    def is_due(self) -> bool:
        self._calls += 1
        if self._calls < self._every:
            return False
        self._calls = 0
        return True
