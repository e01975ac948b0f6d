"""How a sweep stands, for somebody who only looks: from its journal and the run folders, without a lock."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from stepscope.runs.format.writer_identity import boot_id, host_name
from stepscope.sweep.journal import FOLDER, WORKER, Journal
from stepscope.sweep.live import Live
from stepscope.sweep.past import Past
from stepscope.sweep.pausing import pause_of
from stepscope.sweep.process import Process, is_alive
from stepscope.sweep.readings import Reader
from stepscope.sweep.runner import best_of, total_of
from stepscope.sweep.spec import Sweep, sweep_from
from stepscope.sweep.trials import Trial, replay

_ASIDE = re.compile(r"\.\d+$")
_LOST = "its worker is gone; another one runs these settings"


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


@dataclass(frozen=True)
class Overview:
    """A sweep as its page shows it."""

    sweep: Sweep
    trials: list[Trial]
    best: Trial | None
    total: int | None
    started: float
    active_s: float
    """How long it has been worked on."""
    workers: int
    """Processes at work on it now, as far as this store knows of them."""
    is_shared: bool
    is_paused: bool


def sweeps_in(store: Path) -> list[Path]:
    """The folders of the sweeps in a store; those put aside by `--fresh` are left out."""
    try:
        found = sorted(one for one in (store / FOLDER).iterdir() if not _ASIDE.search(one.name))
    except OSError:
        return []
    return [one for one in found if _journals(one)]


def overview(folder: Path) -> Overview | None:
    """How the sweep in this folder stands, of all workers whose journals are here; None if nothing was begun."""
    journals = _journals(folder)
    histories = [replay(one.read()) for one in journals]
    newest = max(histories, key=lambda one: one.began, default=None)
    if newest is None or newest.raw is None:
        return None
    sweep = sweep_from(dict(newest.raw), name=newest.name or folder.name)
    is_shared = any(one.folder != folder for one in journals)
    trials: dict[int, Trial] = {}
    workers = 0
    for journal, history in zip(journals, histories, strict=True):
        is_at_work = journal.is_locked()
        workers += is_at_work
        for trial in history.trials.values():
            _bring_up_to_date(journal, sweep, trial, is_at_work, is_shared)
            trials[trial.number] = trial
    listed = [trials[number] for number in sorted(trials)]
    pause = pause_of(folder)
    return Overview(
        sweep,
        listed,
        best_of(sweep, listed),
        total_of(sweep),
        started=min((one.started for one in listed), default=newest.began),
        active_s=max(one.spent_s for one in histories),
        workers=workers,
        is_shared=is_shared,
        is_paused=pause is not None and pause.paused,
    )


def _journals(folder: Path) -> list[Journal]:
    try:
        inside = sorted(one for one in folder.iterdir() if one.name.startswith(WORKER))
    except OSError:
        return []
    return [journal for journal in map(Journal, [folder, *inside]) if journal.exists]


def _bring_up_to_date(journal: Journal, sweep: Sweep, trial: Trial, is_at_work: bool, is_shared: bool) -> None:
    """What the journal does not say of a run that is not over."""
    if trial.state != "running":
        return
    live = Live(trial, Process(0, 0.0), Reader(trial.note(journal.folder), sweep.metric), trial.output(journal.folder))
    live.read()
    if is_shared and not is_at_work:
        trial.state, trial.reason = "requeued", _LOST
    elif not is_at_work and _is_gone(trial):
        verdict = live.verdict(None)
        trial.state, trial.reason = verdict.state, verdict.reason


def _is_gone(trial: Trial) -> bool:
    is_here = (trial.host, trial.boot_id) == (host_name(), boot_id())
    return is_here and not is_alive(trial.pid, trial.pid_started)
