"""What Stepscope says to the person at the terminal: little, on stderr, each thing once."""

from __future__ import annotations

import os
import shlex
import sys
import threading
from pathlib import Path

__all__ = ["forget", "greet", "say", "say_once"]

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


def greet(name: str, path: Path, attempt: int) -> None:
    """Where the run goes and how to see it, for a person who sits at the terminal; nothing into a pipe or a log."""
    stream = sys.stderr
    try:
        if stream is None or not stream.isatty():
            return
        near = os.path.relpath(path)
    except (OSError, ValueError, AttributeError):  # closed, no real stream, or we stand in a folder that is gone
        return
    where = str(path) if near.startswith(os.pardir) else near
    shown = "".join(letter if letter.isprintable() else "?" for letter in where)
    store = shlex.quote(os.path.dirname(shown) or ".")
    again = f" goes on, attempt {attempt + 1}" if attempt else ""
    say(f"run {name!r}{again} -> {shown} (see it with: stepscope ui {store})")


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
