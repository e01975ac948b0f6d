"""A worker of a sweep that several share: it takes settings from the common study, runs them here, and tells."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope import fence
from stepscope.errors import Conflict
from stepscope.runs.format.writer_identity import host_name
from stepscope.sweep.journal import WORKER, Journal, folder_of
from stepscope.sweep.live import Live, Verdict
from stepscope.sweep.past import Past
from stepscope.sweep.pausing import pause_of
from stepscope.sweep.pruning import Pruner
from stepscope.sweep.runner import Runner
from stepscope.sweep.shared_study import SharedStudy
from stepscope.sweep.spec import Sweep
from stepscope.sweep.trials import Trial

ASK_S = 1.0
"""Between two questions for work, when there was none."""


class Worker(Runner):
    """Runs what the study deals out, until all results are there. Its journal is its own, for a restart of it."""

    def __init__(self, sweep: Sweep, past: Past, study: SharedStudy, store: Path) -> None:
        super().__init__(sweep, past, study, store)  # type: ignore[arg-type]
        self.study = study
        self._pruner = None if sweep.metric is None else _Pruner(sweep, study)
        self._asked = self._counted = self._looked = 0.0
        self._is_over = self._is_paused = False

    @property
    def best(self) -> Trial | None:
        found = [one for one in self.study.outcomes() if one[2] == "complete" and one[3] is not None]
        metric = self.sweep.metric
        if not found or metric is None:
            return None
        sign = 1.0 if metric.goal == "min" else -1.0
        number, params, _, value, run, _ = min(found, key=lambda one: sign * (one[3] or 0.0))
        return Trial(number, dict(params), "finished", value=value, run=run)

    @property
    def is_paused(self) -> bool:
        return self._is_paused

    def _take_up(self) -> None:
        for trial, process in self.past.unfinished():
            live = self._made_live(trial, process) if process is not None else None
            over = live is None or live.process.poll()[0]
            if self.study.take_over(trial.number) and live is not None and not over:
                self._live[trial.number] = live
                self.on_change("taken over", trial)
                continue
            if live is not None and not over:  # another worker has it now
                live.process.stop(time.time(), at_once=True)
            self.study.release(trial.number)
            trial.state = "requeued"
            self._note("end", trial, state="requeued", reason="this worker was stopped")

    def _drawn(self) -> Trial | None:
        now = time.monotonic()
        if now - self._asked < ASK_S:
            return None
        found = fence.call("asking for settings", self.study.next)
        if found is None:
            self._asked = now
            return None
        return Trial(*found)

    def _more(self) -> bool:
        """Others may be at work on the last ones, and die."""
        now = time.monotonic()
        if not self._is_over and now - self._counted >= ASK_S:
            self._counted = now
            self._is_over = bool(fence.call("asking how the sweep stands", self.study.is_over))
        return self.ending is None and not self._is_over

    def _keep_up(self) -> None:
        fence.call("a heartbeat of the sweep", self.study.keep_up)
        now = time.monotonic()
        if now - self._looked >= ASK_S:
            self._looked = now
            pause = pause_of(self.journal.folder.parent)
            self._is_paused = bool(fence.call("asking whether it is paused", self.study.is_paused, pause))

    def _over(self, live: Live, verdict: Verdict, code: int | None) -> None:
        trial = live.trial
        if trial.run is not None:
            fence.call("noting a run", self.study.note_run, trial.number, trial.run)
        super()._over(live, verdict, code)
        if trial.state == "interrupted" and trial.number not in self._again:
            fence.call("giving settings back", self.study.release, trial.number)


class _Pruner(Pruner):
    """Optuna's pruner over the trials of all workers."""

    def __init__(self, sweep: Sweep, study: SharedStudy) -> None:
        self._how, self.study = sweep.early_stop, study.study
        self._trials = study.trials
        self._reported: dict[int, int] = {}

    def seen(self, number: int, steps: npt.NDArray[np.int64], values: npt.NDArray[np.float64]) -> str | None:
        if number not in self._trials:
            return None
        why: Any = fence.call("reporting to the sweep", super().seen, number, steps, values)
        return None if self._how.pruner == "none" else why

    def ended(self, number: int, was_pruned: bool) -> None:
        self._reported.pop(number, None)


def open_worker(sweep: Sweep, store: Path, url: str) -> Worker:
    """A worker with a journal that no other has; a restarted one gets that of its predecessor."""
    folder = folder_of(store, sweep.name)
    study = SharedStudy(sweep, url, folder)
    number = 0
    while True:
        journal = Journal(folder / f"{WORKER}{host_name()}-{number}")
        try:
            journal.open()
            break
        except Conflict:
            number += 1
    past = Past(journal, sweep)
    past.begin(sweep.seed or 0)
    return Worker(sweep, past, study, store)
