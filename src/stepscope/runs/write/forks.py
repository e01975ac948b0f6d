"""Handling forks: a child gets its own writer."""

from __future__ import annotations

import os
import weakref
from typing import Protocol

from stepscope.fence import fenced


class _Forkable(Protocol):
    def become_child(self) -> None: ...


_watched: list[weakref.ref[_Forkable]] = []


def watch_forks(writer: _Forkable) -> None:
    """Have `writer.become_child` called in every forked child, before the child runs anything else."""
    _watched[:] = [ref for ref in _watched if ref() is not None]
    _watched.append(weakref.ref(writer))


def _in_child() -> None:
    for ref in list(_watched):
        writer = ref()
        if writer is not None:
            fenced("keeping a forked process apart")(writer.become_child)()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
