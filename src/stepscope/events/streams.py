"""What is written to a stream of text, heard where it is written: the stream itself stays the object it was.

The `write` of that object is wrapped, so libraries that hold on to `sys.stderr` (logging, tqdm, rich) are heard too. A
debugger that steps stops in every Python function that is called, ours included. So from its first prompt until it is
gone the stream is as it was.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from stepscope.events.installed import Installed
from stepscope.events.patches import Layer


def debugger_here() -> Any:
    """The debugger (pdb, or one built on it) that decides at each line of this thread whether to stop; None without."""
    trace = sys.gettrace()
    if trace is None:
        return None
    bdb, found = sys.modules.get("bdb"), getattr(trace, "__self__", None)
    return found if bdb is not None and isinstance(found, bdb.Bdb) else None


class Written:
    """A layer around the `write` of one stream, from `install` to `remove`."""

    def __init__(self, stream: Any, layer: Layer, on_aside: Callable[[], None] = lambda: None) -> None:
        self.stream = stream
        self._layer = layer
        self._on_aside = on_aside
        self._installed = Installed()
        self._debugger: Any = None
        """While it steps the stream is left alone."""

    def install(self) -> None:
        """Raises AttributeError for a stream that takes no attributes."""
        point = f"sys:{'stderr' if self.stream is sys.stderr else 'stdout'}.write"
        self._installed.wrap(point, self._beside_debuggers, self.stream)

    def remove(self) -> None:
        self._debugger = None
        self._installed.remove()

    @property
    def is_aside(self) -> bool:
        return self._debugger is not None

    def _beside_debuggers(self, write: Callable[..., Any]) -> Callable[..., Any]:
        heard = self._layer(write)

        @functools.wraps(write)
        def written(*args: Any, **kwargs: Any) -> Any:
            debugger = debugger_here()  # it prompts before it lets the next line run, so this is early enough
            if debugger is None:
                return heard(*args, **kwargs)
            self._debugger = debugger
            self._installed.remove()
            self._on_aside()
            return write(*args, **kwargs)

        return written

    def settle(self) -> None:
        """Called now and then, from any thread: listen again when the debugger has gone."""
        if self._debugger is not None and _has_gone(self._debugger):
            self._debugger = None
            self.install()


def _has_gone(debugger: Any) -> bool:
    """Whether it was told to continue, with no breakpoint left, or to quit."""
    return bool(debugger.quitting or (debugger.stoplineno == -1 and not debugger.breaks))
