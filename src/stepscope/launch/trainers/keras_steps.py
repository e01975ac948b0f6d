"""The steps of Keras' optimizers on the torch backend, which are none of torch's: told to those who wait for a step.

Each gets a stand-in with what a torch optimizer shows (`param_groups`, `defaults`), and our own hooks are called with
it around `apply`. Hooks of others are left alone: they were not meant for it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from stepscope import fence
from stepscope.events import Installed
from stepscope.launch.trainers.standing import around

__all__ = ["KerasSteps"]


class _StandIn:
    """What a torch optimizer would show of this one."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.defaults = settings
        self.param_groups: list[dict[str, Any]] = [{"params": [], "lr": None}]
        self.state: dict[Any, Any] = {}


class KerasSteps:
    """Stands at `BaseOptimizer.apply`."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    def hook(self, optimizer: Any, installed: Installed) -> None:
        around(installed, optimizer, "apply", self._applies)

    def _applies(self, optimizer: Any, grads: Any, trainable_variables: Any = None) -> Callable[[], None] | None:
        hooks = sys.modules.get("torch.optim.optimizer")
        if hooks is None or not _is_on_torch() or optimizer in _inner(self._known, optimizer):
            return None
        variables = trainable_variables if trainable_variables is not None else optimizer._trainable_variables
        stand_in = self._stand_in(optimizer)
        stand_in.param_groups[0] = {"params": [one.value for one in variables], "lr": _rate(optimizer)}
        _tell(hooks.__dict__["_global_optimizer_pre_hooks"], stand_in)
        return lambda: _tell(hooks.__dict__["_global_optimizer_post_hooks"], stand_in)

    def _stand_in(self, optimizer: Any) -> Any:
        found = self._known.get(optimizer)
        if found is None:
            kind = type(type(optimizer).__name__, (_StandIn,), {})  # its name is shown
            plain = {name: value for name, value in optimizer.get_config().items() if isinstance(value, int | float)}
            found = self._known[optimizer] = kind(plain)
        return found


def _inner(known: Any, optimizer: Any) -> tuple[Any, ...]:
    """Optimizers that another one drives (a loss scale wraps one) step within its step."""
    return tuple(one.inner_optimizer for one in known if getattr(one, "inner_optimizer", None) is optimizer)


def _is_on_torch() -> bool:
    backend = sys.modules.get("keras.src.backend")
    return backend is not None and backend.backend() == "torch"


def _rate(optimizer: Any) -> Any:
    """A number where it lies in memory; on a device it is left there, and read when it has arrived."""
    rate = optimizer._learning_rate
    rate = rate.value if hasattr(rate, "value") else optimizer._get_current_learning_rate()
    if hasattr(rate, "detach"):
        rate = rate.detach()
        return float(rate) if rate.device.type == "cpu" else rate
    return float(rate) if isinstance(rate, int | float) else None


def _tell(hooks: dict[Any, Any], stand_in: Any) -> None:
    for hook in list(hooks.values()):
        if getattr(hook, "__module__", "").startswith("stepscope."):
            fence.call("following a Keras optimizer", hook, stand_in, (), {})
