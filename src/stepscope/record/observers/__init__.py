"""Watching a script while it runs: observers that keep plain facts, for rules to read. See docs/design/014."""

from stepscope.record.observers.watcher import Watcher

__all__ = ["Watcher"]
