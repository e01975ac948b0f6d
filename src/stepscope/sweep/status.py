"""How a sweep stands, for somebody who only looks: from its journal and the run folders, without a lock."""

from __future__ import annotations

from dataclasses import dataclass

from stepscope.runs.format.writer_identity import boot_id, host_name
from stepscope.sweep.journal import Journal
from stepscope.sweep.live import Live
from stepscope.sweep.past import Past
from stepscope.sweep.process import Process, is_alive
from stepscope.sweep.readings import Reader
from stepscope.sweep.runner import best_of, total_of
from stepscope.sweep.spec import Sweep
from stepscope.sweep.trials import Trial

__all__ = ["Standing", "standing"]


@dataclass(frozen=True)
class Standing:
    trials: list[Trial]
    best: Trial | None
    total: int | None
    spent_s: float
    is_running: bool
    """Whether a `stepscope sweep` is at work on it now."""


def standing(journal: Journal, sweep: Sweep) -> Standing:
    """Every run as it is now; one whose process is gone without a word counts as interrupted."""
    past = Past(journal, sweep)
    trials = [past.history.trials[number] for number in sorted(past.history.trials)]
    for trial in trials:
        folder = journal.folder
        live = Live(trial, Process(0, 0.0), Reader(trial.note(folder), sweep.metric), trial.output(folder))
        known = trial.value
        live.read()
        if trial.is_over:
            trial.value = known
        elif trial.state == "running" and _is_gone(trial):
            trial.state = live.verdict(None).state
    return Standing(trials, best_of(sweep, trials), total_of(sweep), past.history.spent_s, journal.is_locked())


def _is_gone(trial: Trial) -> bool:
    is_here = (trial.host, trial.boot_id) == (host_name(), boot_id())
    return is_here and not is_alive(trial.pid, trial.pid_started)
