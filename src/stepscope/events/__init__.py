"""The only room that touches the user's process: patches, hooks and modes become typed events.

    from stepscope import events

    subscription = events.subscribe("the pulse", backward_begins=..., step_begins=...)
    installed = events.Installed(); installed.wrap("torch:compile", layer)
    undo = events.follow(follower)                      # every operation of this thread

What is installed is what somebody is subscribed to now. docs/design/023-events.md has the whole story.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepscope.events.hub import KINDS, Subscription, on_fork, source_of, subscribe
from stepscope.events.installed import Installed
from stepscope.events.patches import caller, installed_now

if TYPE_CHECKING:
    from stepscope.events.operations import Follower, follow, is_followed, seen_again
    from stepscope.events.quiet import quietly

__all__ = [
    "KINDS", "Follower", "Installed", "Subscription", "caller", "follow", "installed_now", "is_followed", "on_fork",
    "quietly", "seen_again", "source_of", "subscribe",
]  # fmt: skip
_WITH_TORCH = {
    "follow": "operations", "Follower": "operations", "is_followed": "operations", "seen_again": "operations",
    "quietly": "quiet",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """What needs torch is imported when it is first asked for."""
    from importlib import import_module

    if name not in _WITH_TORCH:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"stepscope.events.{_WITH_TORCH[name]}"), name)
