"""Handling forks: a child gets its own writer, and Stepscope's threads pause.

From Python 3.12 on, `os.fork` warns if another thread runs. Stepscope's threads stop before the fork and start
after it, so the script sees the warning only where plain Python gives it, and no child is forked during a write.
"""

from __future__ import annotations

import os
import sys
import weakref
from typing import Protocol

from stepscope.fence import fenced

__all__ = ["pause_at_forks", "watch_forks"]

PAUSE_S = 0.2
"""A thread that has not stopped by then is waiting for a disk; the fork does not wait for it."""


class _Forkable(Protocol):
    def become_child(self) -> None: ...


class _Pausable(Protocol):
    def pause(self) -> None: ...

    def resume(self) -> None: ...


_watched: list[weakref.ref[_Forkable]] = []
_pausable: list[weakref.ref[_Pausable]] = []
_paused: list[_Pausable] = []


def watch_forks(writer: _Forkable) -> None:
    """Call `writer.become_child` in every forked child before it runs anything else."""
    _watched[:] = [ref for ref in _watched if ref() is not None]
    _watched.append(weakref.ref(writer))


def pause_at_forks(owner: _Pausable) -> None:
    """Stop its thread before each fork (`pause`, at most `PAUSE_S`) and restart it after (`resume`)."""
    _pausable[:] = [ref for ref in _pausable if ref() is not None]
    _pausable.append(weakref.ref(owner))


def _before() -> None:
    for owner in [ref() for ref in list(_pausable)]:
        if owner is not None:
            _paused.append(owner)
            fenced("pausing a thread")(owner.pause)()


def _in_parent() -> None:
    while _paused:
        fenced("resuming after a fork")(_paused.pop().resume)()


def _in_child() -> None:
    _paused.clear()
    for ref in list(_watched):
        writer = ref()
        if writer is not None:
            fenced("keeping a forked process apart")(writer.become_child)()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
    if sys.version_info >= (3, 12):
        os.register_at_fork(before=_before, after_in_parent=_in_parent)
