"""The experiments of `stepscope check`: made after the first steps, and again of data that is read later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepscope import fence
from stepscope.experiments.experiment import Experimenter

if TYPE_CHECKING:
    from stepscope.diagnose.engine import Engine
    from stepscope.launch.limits import Limiter
    from stepscope.launch.loop import Loop
    from stepscope.record.observers.watcher import Watcher


class Trying:
    """Makes experiments between two steps of the script; rules and the verdict find their results."""

    def __init__(self, watcher: Watcher, engine: Engine, loop: Loop, limiter: Limiter) -> None:
        self._engine, self._loop, self._limiter = engine, loop, limiter
        self._experiments = Experimenter(watcher)
        engine.evidence.tables["experiments"] = self._experiments
        loop.on_exhausted.append(self.data_was_read)

    @fence.fenced("the probes")
    def run(self) -> None:
        """Make all, once."""
        if self._experiments.over:
            return
        with self._loop.silent():
            self._engine.probe()
            self._experiments.run()

    @fence.fenced("the probes")
    def data_was_read(self, iterator: Any) -> None:
        """Data for evaluation has been read: the experiments on datasets run again, on this one too."""
        loader = self._loop.loader_of.get(iterator)
        if loader is None or self._limiter.roles.of(loader) == "train":
            return
        with self._loop.silent():
            self._experiments.outcome("dataset-determinism", again=True)
