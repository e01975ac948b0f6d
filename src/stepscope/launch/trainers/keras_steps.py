"""The steps of Keras' optimizers on the torch backend, which are not torch's: passed to those who wait for a step.

Each gets a stand-in with what a torch optimizer shows (`param_groups`, `defaults`), and those who are subscribed to
steps hear of it around `apply`. Hooks that the script has given torch are left alone: they were not meant for it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from stepscope.events import Installed, source_of
from stepscope.launch.trainers.wrap_method import around


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

    def hook(self, installed: Installed) -> None:
        around(installed, "keras.src.optimizers.base_optimizer:BaseOptimizer.apply", self._applies)

    def _applies(self, optimizer: Any, grads: Any, trainable_variables: Any = None) -> Callable[[], None] | None:
        if "torch" not in sys.modules or not _is_on_torch() or optimizer in _inner(self._known, optimizer):
            return None
        variables = trainable_variables if trainable_variables is not None else optimizer._trainable_variables
        stand_in = self._stand_in(optimizer)
        stand_in.param_groups[0] = {"params": [one.value for one in variables], "lr": _rate(optimizer)}
        steps: Any = source_of("step_begins")
        steps.begin(stand_in)
        return partial(steps.end, stand_in)

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
