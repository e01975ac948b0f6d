"""A source turns one kind of happening in the user's process into events, and is installed while somebody listens."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from stepscope import extension, fence

Handler = Callable[..., Any]


def only_noted(handler: Handler) -> Handler:
    """Mark a handler of `model_ends` that has nothing to do for calls without notes: it is then not called."""
    handler.only_noted = True  # type: ignore[attr-defined]
    return handler


def may_rest(handler: Handler) -> Handler:
    """Mark a handler of `model_begins` that misses nothing while another one lets the door rest."""
    handler.may_rest = True  # type: ignore[attr-defined]
    return handler


class Listener(NamedTuple):
    """One handler of one subscriber."""

    handler: Handler
    thread: int | None
    """Only what happens on this thread; None for all of them."""
    who: str
    """The subscriber, as a fault is reported: "the pulse"."""
    order: int


class Source:
    """Subclasses name their kinds and say how to install and remove what makes the events."""

    kinds: ClassVar[tuple[str, ...]] = ()
    closing: ClassVar[frozenset[str]] = frozenset()
    """Kinds that end what another began: told in the reverse order, so that clocks stay innermost."""

    def __init__(self) -> None:
        self.is_installed = False
        for kind in self.kinds:
            setattr(self, kind, ())

    if TYPE_CHECKING:

        def __getattr__(self, kind: str) -> Any:
            """The listeners of each kind are an attribute of its name."""

    def listeners(self, kind: str) -> tuple[Listener, ...]:
        found: tuple[Listener, ...] = getattr(self, kind)
        return found

    def add(self, kind: str, listener: Listener) -> None:
        self._set(kind, [*self.listeners(kind), listener])

    def drop(self, kind: str, handler: Handler) -> None:
        self._set(kind, [one for one in self.listeners(kind) if one.handler != handler])

    def _set(self, kind: str, listeners: list[Listener]) -> None:
        ordered = sorted(listeners, key=lambda one: one.order, reverse=kind in self.closing)
        setattr(self, kind, tuple(ordered))

    def settle(self) -> None:
        """Be installed exactly while there is a listener."""
        wanted = any(self.listeners(kind) for kind in self.kinds)
        if wanted and not self.is_installed:
            self.is_installed = True
            self.install()
        elif self.is_installed and not wanted:
            self.is_installed = False
            self.remove()
        elif wanted:
            self.changed()

    def install(self) -> None:
        """Put patches and hooks in place."""

    def remove(self) -> None:
        """Take them away."""

    def tidy(self) -> None:
        """Take away what could not be taken away when the last listener left."""

    def changed(self) -> None:
        """The listeners are others than before, but still some."""


def tell_in_python(listeners: tuple[Listener, ...], *facts: Any) -> None:
    """Let each hear it; a fault of one is reported, and the others still hear."""
    for handler, thread, who, _ in listeners:
        if thread is None or thread == get_ident():
            try:
                handler(*facts)
            except Exception as fault:
                _report(who, fault)


def _report(who: str, fault: Exception) -> None:
    if type(fault).__name__ == "BdbQuit":  # the user leaves the debugger of a breakpoint
        raise fault
    fence.report(who, fault)


tell: Callable[..., None] = tell_in_python
compiled = extension.load("stepscope.events._doors", 2)
"""`doors.c`, or None."""
if compiled is not None:
    compiled.set_report(_report)
    tell = compiled.tell


def ask(listeners: tuple[Listener, ...], *facts: Any) -> None:
    """As `tell`, but a listener may end the pass (StopIteration) or the script (by what is not an `Exception`)."""
    for handler, thread, who, _ in listeners:
        if thread is None or thread == get_ident():
            try:
                handler(*facts)
            except StopIteration:
                raise
            except Exception as fault:
                fence.report(who, fault)
