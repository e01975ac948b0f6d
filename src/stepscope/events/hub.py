"""Subscribing: say which events you want, and get a handle that ends it.

    subscription = subscribe("the pulse", backward_begins=self._loss, step_begins=self._gradients)
    subscription.remove()

`KINDS` lists the events with what their handlers are called with. Faults of a handler are reported under the given
name and never reach the script. `thread` limits a subscription to one thread; `order` says how close to the event a
handler is called (higher is closer: a clock has 90, the default is 50). A forked child has no subscriptions.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

from stepscope import fence
from stepscope.events.installed import leave_child_alone
from stepscope.events.source import Handler, Listener, Source

KINDS: dict[str, str] = {
    "loader_made": "(loader, frame): a DataLoader was made",
    "pass_asked": "(loader): it is about to be iterated; may end the script",
    "pass_began": "(loader, iterator, frame): it is iterated",
    "batch_asked": "(iterator): a batch is asked for; may end the pass or the script",
    "batch_given": "(iterator, batch, wall_s, cpu_s): it was delivered, after this much waiting and own work",
    "pass_ended": "(iterator): there are no more batches",
    "model_begins": "(call): a model is called from outside any other; `modules.ModuleCall`",
    "model_ends": "(call): it has returned `call.result`, or raised `call.error`",
    "module_begins": "(call): any module is called, models included",
    "module_ends": "(call): it has returned or raised",
    "backward_asked": "(roots, kwargs): backward is about to run; may end the script",
    "backward_begins": "(roots, args, kwargs, frame): the engine starts",
    "backward_ends": "(error): it has run, or raised",
    "step_asked": "(optimizer): it is about to step; may end the script",
    "step_begins": "(optimizer, args, kwargs, frame): gradients are there, or will be after a closure",
    "closure_begins": "(optimizer): the closure given to `step` is called",
    "closure_ends": "(optimizer, error): it has returned or raised",
    "step_ends": "(optimizer, args, kwargs): it has stepped",
    "compiled": "(frame): something is compiled; models and operations are no longer followed",
}
_sources: dict[str, Source] = {}
_all_sources: list[Source] = []
_subscriptions: list[Subscription] = []
_on_fork: list[Callable[[], None]] = []


class Subscription:
    """What one part of Stepscope listens to, until `remove`."""

    def __init__(self, who: str, thread: int | None, order: int, handlers: dict[str, Handler]) -> None:
        self.who, self.thread, self.order, self.handlers = who, thread, order, handlers
        self._on: set[str] = set()

    def listen(self, *kinds: str) -> None:
        """Listen to these of its kinds now, and to no other."""
        before, self._on = self._on, set(kinds)
        for kind in before - self._on:
            source_of(kind).drop(kind, self.handlers[kind])
        for kind in self._on - before:
            source_of(kind).add(kind, Listener(self.handlers[kind], self.thread, self.who, self.order))
        for source in dict.fromkeys(map(source_of, before ^ self._on)):
            source.settle()
        for source in sources():
            source.tidy()

    @property
    def listens_to(self) -> frozenset[str]:
        return frozenset(self._on)

    def remove(self) -> None:
        self.listen()
        if self in _subscriptions:
            _subscriptions.remove(self)


def subscribe(who: str, *, thread: int | None = None, order: int = 50, **handlers: Handler) -> Subscription:
    """Listen to the kinds that have a handler."""
    unknown = set(handlers) - set(KINDS)
    if unknown:
        raise ValueError(f"no such events: {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    subscription = Subscription(who, thread, order, handlers)
    _subscriptions.append(subscription)
    subscription.listen(*handlers)
    return subscription


def subscriptions() -> list[Subscription]:
    """Who is subscribed now, also those that listen to nothing at the moment."""
    return list(_subscriptions)


def source_of(kind: str) -> Source:
    """The source that makes events of a kind; the sources are imported when the first is needed, as is torch."""
    if not _sources:
        from stepscope.events.backwards import Backwards
        from stepscope.events.compilers import Compilers
        from stepscope.events.loaders import Loaders
        from stepscope.events.modules import Modules
        from stepscope.events.optimizers import Optimizers

        compilers = Compilers()
        for source in (Loaders(), Modules(compilers), Backwards(), Optimizers(), compilers):
            _sources.update(dict.fromkeys(source.kinds, source))
            _all_sources.append(source)
    return _sources[kind]


def sources() -> Iterable[Source]:
    """Those that exist."""
    return _all_sources


def on_fork(told: Callable[[], None]) -> Callable[[], None]:
    """Have `told()` called in a forked child, after everything of the parent's was taken away there."""
    _on_fork.append(told)
    return lambda: _on_fork.remove(told) if told in _on_fork else None


def _leave_child_alone() -> None:
    """A worker of a DataLoader, or a process of the script's own: it runs as if we were not there."""
    for subscription in list(_subscriptions):
        fence.call("leaving a forked process alone", subscription.remove)
    fence.call("leaving a forked process alone", leave_child_alone)
    operations = sys.modules.get("stepscope.events.operations")
    if operations is not None:
        fence.call("leaving a forked process alone", operations.leave_child_alone)
    for told in list(_on_fork):
        fence.call("following a fork", told)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_child_alone)


def of_kind(kind: str) -> Any:
    """The source of a kind, for those who ask it more than to be told (whether a backward is running)."""
    return source_of(kind)
