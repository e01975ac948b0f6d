"""Watching a script while it runs: witnesses that keep plain facts, for rules to read. See docs/design/014."""

from stepscope.record.watch.watcher import Watcher

__all__ = ["Watcher"]
