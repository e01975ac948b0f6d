"""The training script's side of taking turns: it trains only when the bench says so, and tells what that cost.

All arms stand ready at once; each gets a few steps in turn, so that what slows the machine slows all of them.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any


class Turns:
    """`for step in turns.steps(): train()` runs a step whenever it is our turn, until the bench says stop."""

    def __init__(self, finish: Callable[[], None] = lambda: None) -> None:
        self._asked = os.fdopen(int(os.environ["BENCH_ASKS"]))
        self._told = os.fdopen(int(os.environ["BENCH_HEARS"]), "w")
        self._finish = finish
        """Waits for a device, so that all work given to it is within the time."""
        self._left = 0
        self._began = (0.0, 0.0)
        self.counting: Callable[[str], Any] = lambda how: None
        """Given "sync" or "profile", counts the next steps' synchronisations until called with ""; see syncs.py."""
        self._counted = ""

    def tell(self, **facts: Any) -> None:
        self._told.write(json.dumps(facts) + "\n")
        self._told.flush()

    def may_step(self) -> bool:
        """Called before each step: waits until it is our turn; False when it is all over."""
        if self._left:
            self._left -= 1
            return True
        if self._began[0]:
            self._finish()
            facts = {"cpu": time.process_time() - self._began[1], "wall": time.perf_counter() - self._began[0]}
            self.tell(**facts, counted=self.counting("") if self._counted else None)
        waited = time.perf_counter()
        words = self._asked.readline().split()
        _not_the_scripts_time(time.perf_counter() - waited)
        if not words or words[0] == "stop":
            return False
        self._left = int(words[1]) - 1
        self._counted = words[2] if len(words) > 2 else ""
        if self._counted:
            self.counting(self._counted)
        self._began = time.perf_counter(), time.process_time()
        return True

    def steps(self) -> Iterator[int]:
        self.tell(ready=True)
        step = 0
        while self.may_step():
            yield step
            step += 1


def only_the_pulse() -> None:
    """Have the watch follow no more ops from now on: what is left is its cost in every step of a long run."""
    for watcher in _watchers():
        watcher.trail.shut("the bench measures the pulse")
        watcher.look_closely(False)


def _watchers() -> list[Any]:
    watching = sys.modules.get("stepscope.record.watch.watcher")
    return [] if watching is None else list(watching._running)


def _not_the_scripts_time(waited: float) -> None:
    """The watch may spend a share of the time the script runs: time in which it waits for its turn is no such time."""
    for watcher in _watchers():
        watcher.trail.began += waited
