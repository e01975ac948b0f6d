"""Which observers hear of what, and how a fault of one is kept from the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from stepscope import fence
from stepscope.record.observers.observer import Observer

Listener = Callable[..., None]
CALLBACKS = (
    "backward", "backward_done", "step_begins", "step_done", "root_begins", "root_done", "module_done", "batch",
    "epoch_done",
)  # fmt: skip


class Listeners:
    """The callbacks of all observers, by name; those of steady observers also by themselves."""

    def __init__(self, observers: Iterable[Observer] = ()) -> None:
        those = list(observers)
        self.all = {name: overridden(those, name) for name in CALLBACKS}
        """What is called while the training is watched in detail."""
        self.steady = {name: [one for one in found if _is_steady(one)] for name, found in self.all.items()}
        """What is called at every other step too."""


def overridden(observers: Iterable[Observer], name: str) -> list[Listener]:
    """The method `name` of each observer that has one of its own."""
    return [getattr(one, name) for one in observers if getattr(type(one), name) is not getattr(Observer, name)]


def tell(listeners: Iterable[Listener], what: str, *facts: Any) -> None:
    """Call all of them; a fault of one is reported, and the others are still called."""
    for listener in listeners:
        try:
            listener(*facts)
        except Exception as fault:
            fence.report(f"an observer ({_name_of(listener)}.{what})", fault)


def guarded(callback: Listener) -> Callable[[Any], None]:
    """The callback, whose faults are reported instead of raised."""

    def heard(call: Any) -> None:
        try:
            callback(call)
        except Exception as fault:
            fence.report(f"an observer ({_name_of(callback)}.op)", fault)

    return heard


def _is_steady(callback: Listener) -> bool:
    return bool(getattr(getattr(callback, "__self__", None), "steady", False))


def _name_of(callback: Listener) -> str:
    return type(getattr(callback, "__self__", None)).__name__
