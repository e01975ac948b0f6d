"""What belongs to the process as a whole: its standard output, and what the interpreter does when a script ends."""

from __future__ import annotations

import sys
from typing import Any

from stepscope.events.installed import Installed


class DivertedStdout:
    """What the script prints goes to stderr, so that the answer of `--json` is all there is on stdout."""

    def __init__(self) -> None:
        self._stdout: Any = sys.stdout
        self._installed = Installed()
        self._installed.replace("sys:stdout", sys.stderr)

    def write(self, text: str) -> None:
        """Write to the real stdout. What the script prints after this, at its exit, is still diverted."""
        self._stdout.write(text)
        self._stdout.flush()

    def remove(self) -> None:
        self._installed.remove()


def remember_uncaught(error: BaseException) -> None:
    """Keep an exception that nobody caught where post-mortem debuggers look for it."""
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    if sys.version_info >= (3, 12):
        sys.last_exc = error
