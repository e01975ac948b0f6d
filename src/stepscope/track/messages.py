"""Stepscope's messages to the user at the terminal: few, on stderr, each once."""

from __future__ import annotations

import os
import shlex
import sys
import threading
from pathlib import Path

_said: set[object] = set()
_lock = threading.Lock()


def say(text: str) -> None:
    """One line on stderr, unless STEPSCOPE_QUIET is set."""
    if os.environ.get("STEPSCOPE_QUIET"):
        return
    try:
        print(f"stepscope: {text}", file=sys.stderr)  # noqa: T201
    except (OSError, ValueError, AttributeError):  # stderr is closed or None
        pass


def greet(name: str, path: Path, attempt: int) -> None:
    """Where the run is stored and how to see it, for a user at a terminal; nothing in a pipe or a log."""
    stream = sys.stderr
    try:
        if stream is None or not stream.isatty():
            return
        near = os.path.relpath(path)
    except (OSError, ValueError, AttributeError):  # closed, no real stream, or the current folder is deleted
        return
    where = str(path) if near.startswith(os.pardir) else near
    shown = "".join(letter if letter.isprintable() else "?" for letter in where)
    store = shlex.quote(os.path.dirname(shown) or ".")
    again = f" continues, attempt {attempt + 1}" if attempt else ""
    say(f"run {name!r}{again} -> {shown} (see it with: stepscope ui {store})")


def say_once(key: object, text: str) -> None:
    """Print `text` unless something was printed under `key` before."""
    with _lock:
        if key in _said:
            return
        _said.add(key)
    say(text)


def forget() -> None:
    """Forget what was printed, for the next run."""
    with _lock:
        _said.clear()
