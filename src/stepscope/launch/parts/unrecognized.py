"""A script that trains in a way nobody can see from outside: the closing line and the run page say so."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from stepscope import events
from stepscope.launch.part import Ended, Part
from stepscope.launch.printed.read_line import is_metric
from stepscope.launch.printed.series import PrintedSeries
from stepscope.launch.verdict_facts import Case

__all__ = ["NothingRecognized"]

_A_LOOP = 3
"""Backwards or printed results from which on a script was meant to train."""
_A_SEARCH = 10
"""Calls of a model with new weights, from which on a script searches for them: fewer are checkpoints that are read."""
_MOST_CALLS = 500
_WHAT_TO_CALL = "record its values with `run = stepscope.init()` and `run.log({'loss': loss}, step=step)`"


class NothingRecognized(Part):
    """Gradients, results or ever new weights, and not one step."""

    ending = "saying that no step was recognized"

    def __init__(self, case: Case, printed: PrintedSeries) -> None:
        self._case, self._printed = case, printed
        self._calls: events.Subscription | None = None
        self._called = self._changed = 0
        self._weights: list[tuple[Any, int, Any]] = []

    def torch_came(self, torch: ModuleType) -> None:
        self._calls = events.subscribe(self.ending, model_begins=self._model_begins)

    def _model_begins(self, call: Any) -> None:
        """Until gradients show what the script does: are these the weights of the call before?"""
        from stepscope.launch.changed_weights import weights_of

        loop = self._case.around.loop
        self._called += 1
        if loop.backwards or loop.steps or self._changed >= _A_SEARCH or self._called > _MOST_CALLS:
            self._stop()
            return
        self._weights, changed = weights_of(call.module, self._weights)
        self._changed += changed

    def _stop(self) -> None:
        if self._calls is not None:
            self._calls.remove()
        self._calls, self._weights = None, []

    def end(self, ended: Ended) -> None:
        self._stop()
        around, case = self._case.around, self._case
        if ended.error is not None or around.loop.steps or case.children.steps or "torch" not in sys.modules:
            return
        if not around.keeps or not (around.tracking.run is None or around.tracking.is_own):
            return
        why = self._why(around.loop.backwards)
        if why is None:
            return
        around.tracking.ensure()
        said = f"no training step was recognized: {why}"
        if around.tracking.run is not None:
            around.tracking.run.alert(
                "No training step was recognized",
                f"{why[0].upper()}{why[1:]}. To see its steps, {_WHAT_TO_CALL}.",
                "info",
            )
        around.reporter.note(f"{around.script.name}: {said}; {_WHAT_TO_CALL}")

    def _why(self, backwards: int) -> str | None:
        if backwards >= _A_LOOP:
            return (
                f"backward ran {backwards} times, no optimizer stepped and no weight with a gradient changed in place"
            )
        if self._printed.count >= _A_LOOP and any(map(is_metric, self._printed.names)):
            return "it prints results, but no optimizer stepped and backward did not run"
        if self._changed >= _A_SEARCH:
            return "the weights of a model changed between its calls, but no optimizer stepped and backward did not run"
        return None
