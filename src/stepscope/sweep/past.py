"""What earlier starts of a sweep left, from its journal and the run folders."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.runs.format.writer_identity import boot_id, host_name
from stepscope.sweep.changes import changes, same
from stepscope.sweep.journal import Journal
from stepscope.sweep.outcome import Outcome
from stepscope.sweep.process import Process, find_by_variable
from stepscope.sweep.readings import Reader, few_of
from stepscope.sweep.spec import Sweep
from stepscope.sweep.start import assigned_text
from stepscope.sweep.trials import History, Trial, replay
from stepscope.track.sweep_assignment import VARIABLE

Steps = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
MOST_READINGS = 100
"""Of a stopped run, for a sampler: the last ones say how it stood."""


class Past:
    """The history of a sweep, and what it means for continuing."""

    def __init__(self, journal: Journal, sweep: Sweep) -> None:
        self.journal = journal
        self.sweep = sweep
        self.history: History = replay(journal.read())
        self.changes: list[str] = []
        self._valued: list[Trial] = []
        if self.history.raw is not None:
            self.changes = changes(self.history.raw, sweep.raw)
            if not same(self.history.raw.get("metric"), _plain(sweep.raw.get("metric"))):
                self._value_anew()

    @property
    def is_new(self) -> bool:
        return not self.history.starts

    def _value_anew(self) -> None:
        """Another metric than before: the runs that are over are judged by it too."""
        for trial in self.history.trials.values():
            if trial.is_over:
                trial.value = self._reader(trial).value()
                self._valued.append(trial)

    def begin(self, seed: int) -> None:
        """Note that a start of the sweep begins, and what it has found out about those before."""
        self.journal.write("sweep", name=self.sweep.name, raw=self.sweep.raw, seed=seed, pid=os.getpid())
        for trial in self._valued:
            self.journal.write("value", trial=trial.number, value=trial.value)

    def _reader(self, trial: Trial) -> Reader:
        reader = Reader(trial.note(self.journal.folder), self.sweep.metric)
        reader.refresh()
        return reader

    def draw(self, most: int = 100) -> None:
        """Have the small lines of the newest runs that are over."""
        for trial in [one for one in self.history.trials.values() if one.is_over][-most:]:
            trial.recent = few_of(self._reader(trial).curve()[1])

    def retry_failed(self) -> int:
        """Have those that crashed run again."""
        failed = [trial for trial in self.history.trials.values() if trial.state == "failed"]
        for trial in failed:
            trial.state, trial.crashes = "interrupted", 0
        return len(failed)

    def outside(self) -> list[Trial]:
        """Runs with settings that the sweep file, as it is now, would not try."""
        return [trial for trial in self.history.trials.values() if not self.sweep.space.contains(trial.params)]

    def outcomes(self) -> Iterator[Outcome]:
        """Of the runs that are over, for the strategy."""
        for trial in self.history.trials.values():
            if trial.is_over:
                curve = self._reader(trial).curve() if trial.state in ("pruned", "diverged", "timeout") else None
                yield self.outcome(trial, *(curve or (np.empty(0, np.int64), np.empty(0))))

    def outcome(self, trial: Trial, steps: Steps, values: Floats) -> Outcome:
        known = np.isfinite(values)
        readings = dict(zip(steps[known].tolist(), values[known].tolist(), strict=True))
        few = {step: readings[step] for step in sorted(readings)[-MOST_READINGS:]}
        value = trial.value if trial.value is not None and np.isfinite(trial.value) else None
        state: Any = trial.state
        return Outcome(trial.number, trial.params, state, value, few if state != "finished" else None)

    def curves(self) -> Iterator[tuple[int, tuple[Steps, Floats]]]:
        """Of the runs that are over, for the pruner."""
        for trial in self.history.trials.values():
            if trial.is_over and trial.state != "failed":
                yield trial.number, self._reader(trial).curve()

    def unfinished(self) -> Iterator[tuple[Trial, Process | None]]:
        """Runs that were begun and are not over, each with its process where that still runs.

        One that was interrupted and has a setting that the file no longer has is not begun again.
        """
        for trial in self.history.trials.values():
            if trial.state == "running":
                yield trial, self._process(trial)
            elif trial.state == "interrupted" and self.sweep.space.contains(trial.params):
                yield trial, None

    def _process(self, trial: Trial) -> Process | None:
        """Also one that has ended meanwhile: then its folder tells how."""
        if trial.host != host_name():
            return Elsewhere(self._reader(trial))
        if trial.boot_id != boot_id():
            return Process(0, 0.0)
        if trial.pid:
            return Process(trial.pid, trial.pid_started)
        text = assigned_text(self.sweep, trial, self.journal.folder)
        return find_by_variable(VARIABLE, text) or Process(0, 0.0)


class Elsewhere(Process):
    """A run on another machine: its folder's heartbeat is all we know, and nothing we say reaches it."""

    def __init__(self, reader: Reader) -> None:
        super().__init__(0, 0.0)
        self._reader = reader

    def poll(self) -> tuple[bool, int | None]:
        self._reader.refresh()
        return self._reader.folder is None or self._reader.folder.status != "running", None


def _plain(value: object) -> object:
    return json.loads(json.dumps(value, default=str))
