"""What Stepscope says to the person at the terminal: little, on stderr, each thing once."""

from __future__ import annotations

import os
import sys
import threading

__all__ = ["forget", "say", "say_once"]

_said: set[object] = set()
_lock = threading.Lock()


def say(text: str) -> None:
    """One line on stderr, unless STEPSCOPE_QUIET is set."""
    if os.environ.get("STEPSCOPE_QUIET"):
        return
    try:
        print(f"stepscope: {text}", file=sys.stderr)  # noqa: T201
    except (OSError, ValueError, AttributeError):  # stderr is closed or None: nobody is listening
        pass


def say_once(key: object, text: str) -> None:
    """Say `text` unless something was said under `key` before."""
    with _lock:
        if key in _said:
            return
        _said.add(key)
    say(text)


def forget() -> None:
    """Be ready to say everything again: for the next run."""
    with _lock:
        _said.clear()
