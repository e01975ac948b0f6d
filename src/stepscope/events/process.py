"""What the interpreter itself does at the end of a script, done for one that runs inside our process."""

from __future__ import annotations

import sys

__all__ = ["remember_uncaught"]


def remember_uncaught(error: BaseException) -> None:
    """Keep an exception that nobody caught where post-mortem debuggers look for it."""
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    if sys.version_info >= (3, 12):
        sys.last_exc = error
