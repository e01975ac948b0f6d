"""What is written to a stream of text, heard where it is written: the stream itself stays the object it was.

The `write` of that object is wrapped, so libraries that hold on to `sys.stderr` (logging, tqdm, rich) are heard too. A
debugger that steps stops in every Python function that is called, ours included. So from its first prompt until it is
gone the stream is as it was.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from threading import get_ident
from typing import Any

from stepscope.events.installed import Installed
from stepscope.events.patches import Layer

__all__ = ["Written", "a_debugger_steps"]


def a_debugger_steps() -> bool:
    """Whether a debugger (pdb, or one built on it) decides after each line of this thread whether to stop there."""
    trace = sys.gettrace()
    if trace is None:
        return False
    bdb = sys.modules.get("bdb")
    return bdb is not None and isinstance(getattr(trace, "__self__", None), bdb.Bdb)


class Written:
    """A layer around the `write` of one stream, from `install` to `remove`."""

    def __init__(self, stream: Any, layer: Layer, on_aside: Callable[[], None] = lambda: None) -> None:
        self.stream = stream
        self._layer = layer
        self._on_aside = on_aside
        self._installed = Installed()
        self._debugged: int | None = None
        """The thread in which a debugger steps: the stream is left alone."""

    def install(self) -> None:
        """Raises AttributeError for a stream that takes no attributes."""
        point = f"sys:{'stderr' if self.stream is sys.stderr else 'stdout'}.write"
        self._installed.wrap(point, self._beside_debuggers, self.stream)

    def remove(self) -> None:
        self._debugged = None
        self._installed.remove()

    @property
    def is_aside(self) -> bool:
        return self._debugged is not None

    def _beside_debuggers(self, write: Callable[..., Any]) -> Callable[..., Any]:
        heard = self._layer(write)

        @functools.wraps(write)
        def written(*args: Any, **kwargs: Any) -> Any:
            if not a_debugger_steps():  # it prompts before it lets the next line run, so this is early enough
                return heard(*args, **kwargs)
            self._debugged = get_ident()
            self._installed.remove()
            self._on_aside()
            return write(*args, **kwargs)

        return written

    def settle(self) -> None:
        """Called now and then, from any thread: listen again when the debugger has gone."""
        if self._debugged is None or _is_stepped(self._debugged):
            return
        self._debugged = None
        self.install()


def _is_stepped(thread: int) -> bool:
    """Whether a trace function is set on a frame of a thread. The outermost keeps that of a debugger that has gone."""
    frame = sys._current_frames().get(thread)
    while frame is not None and frame.f_back is not None:
        if frame.f_trace is not None:
            return True
        frame = frame.f_back
    return False
