"""The watch: observers around the training, and the engine that asks rules of what they saw."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from stepscope import fence
from stepscope.launch.part import Ended, Part
from stepscope.launch.session_context import Around

if TYPE_CHECKING:
    from stepscope.diagnose.engine import Engine
    from stepscope.record.observers import Watcher
    from stepscope.records import Finding


class Companion(Part):
    """A part that has something to do with the watch: two more moments, in the order of the watch's own list."""

    def watcher_made(self, watcher: Watcher) -> None:
        """Before the engine is made: observers are added here."""

    def watch_begins(self, watcher: Watcher, engine: Engine) -> None:
        """All is made, and the watch has not begun."""


class Watch(Part):
    """From the import of torch to the end of the script."""

    ending = "ending the watch"

    def __init__(self, around: Around, companions: Sequence[Companion]) -> None:
        self._around = around
        self._companions = companions
        self.watcher: Watcher | None = None
        """Once it has begun."""
        self.engine: Engine | None = None

    def torch_came(self, torch: ModuleType) -> None:
        if self._around.options.diagnose:
            from stepscope.record.collector import Rested

            with Rested():
                fence.call("starting the watch", self._start)

    def _start(self) -> None:
        from stepscope.diagnose.engine import Engine
        from stepscope.diagnose.evidence import Evidence
        from stepscope.record.observers import Watcher

        watcher = Watcher()
        for one in self._companions:
            one.watcher_made(watcher)
        engine = Engine(Evidence.of(watcher), settings=self._around.settings, on_finding=self._found)
        watcher.on_moment = engine.moment
        self.engine = engine
        for one in self._companions:
            one.watch_begins(watcher, engine)
        self.watcher = watcher.start()

    def _found(self, finding: Finding) -> None:
        self._around.reporter.take(finding)
        self._around.rank_notes.found(finding)

    def end(self, ended: Ended) -> None:
        if self.watcher is not None:
            self.watcher.stop()
