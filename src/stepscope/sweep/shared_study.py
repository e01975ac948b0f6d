"""A sweep that several workers share: Optuna's storage deals out settings, counts results and prunes.

Workers say that they live by Optuna's heartbeats. When one falls silent, whoever notices first marks its trials as
failed, and Optuna queues the same settings again. Each result counts once: a trial that was given to somebody else
takes no result from a worker that comes back.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from stepscope.errors import ConfigError, StepscopeError
from stepscope.runs.format.writer_identity import host_name
from stepscope.sweep.distributions import Distributions
from stepscope.sweep.outcome import Outcome
from stepscope.sweep.pausing import Pause
from stepscope.sweep.pruning import optunas_pruner
from stepscope.sweep.samplers import make_sampler, need_optuna, state_of
from stepscope.sweep.spec import Sweep

SILENT = 6
"""Heartbeats that may be missed."""
_STOPPED, _PAUSED, _EXCESS = "stepscope:stopped", "stepscope:paused", "stepscope:excess"
_RUN, _HOST, _CLOCK = "stepscope:run", "stepscope:host", "stepscope:clock"
_RETRIES = 20
_MADE_MEANWHILE = ("already exists", "duplicate key", "UNIQUE constraint", "database is locked")
_OPENINGS = 10


@dataclass(frozen=True)
class Counts:
    """How a study stands; settings that were queued again count once."""

    results: int
    running: int
    waiting: int
    replaced: frozenset[int] = frozenset()
    """Trials whose worker was lost, and whose settings were queued again."""


def counts_of(trials: list[Any], before: int | None = None) -> Counts:
    """Of these trials, or of those whose settings were first drawn before this number."""
    replaced = {number for trial in trials for number in trial.system_attrs.get("retry_history", ())}
    excess = {trial.number for trial in trials if trial.user_attrs.get(_EXCESS)}
    counted = [trial for trial in trials if trial.number not in replaced and trial.number not in excess]
    if before is not None:
        counted = [trial for trial in counted if _first(trial) < before]
    running = sum(trial.state.name == "RUNNING" for trial in counted)
    waiting = sum(trial.state.name == "WAITING" for trial in counted)
    return Counts(len(counted) - running - waiting, running, waiting, frozenset(replaced))


def _first(trial: Any) -> int:
    """The number its settings had first: those of a lost worker are queued again under a new one."""
    history = trial.system_attrs.get("retry_history")
    return int(history[0] if history else trial.number)


class SharedStudy:
    """One worker's view of the sweep; a `Strategy` as far as it knows of results."""

    def __init__(self, sweep: Sweep, url: str, folder: Path) -> None:
        self._sweep, self._optuna = sweep, need_optuna("--storage")
        self._distributions = Distributions(self._optuna, sweep.space, sweep.method)
        self._storage = open_storage(self._optuna, url, folder, sweep.heartbeat_s)
        self.study = self._opened()
        self.trials: dict[int, Any] = {}
        """Those of this worker."""
        self._beaten = 0.0

    @property
    def total(self) -> int | None:
        sizes = (self._sweep.runs, self._sweep.space.size if self._sweep.method == "grid" else None)
        limits = [one for one in sizes if one is not None]
        return min(limits) if limits else None

    def _opened(self) -> Any:
        sweep, optuna = self._sweep, self._optuna
        method = "random" if sweep.method == "grid" else sweep.method  # all of a grid is queued at once
        named: dict[str, Any] = {"study_name": sweep.name, "storage": self._storage}
        made: dict[str, Any] = {
            "sampler": make_sampler(optuna, method, None, parallel=2),
            "pruner": optunas_pruner(optuna, sweep.early_stop),
        }
        goal = "min" if sweep.metric is None else sweep.metric.goal
        try:
            study = optuna.create_study(direction="minimize" if goal == "min" else "maximize", **named, **made)
        except optuna.exceptions.DuplicatedStudyError:
            return optuna.load_study(**named, **made)
        if sweep.method == "grid":
            for params in sweep.space.grid():
                study.enqueue_trial(self._distributions.encoded(params))
        return study

    # -- dealing out ------------------------------------------------------------------------------------------------

    def next(self) -> tuple[int, dict[str, Any]] | None:
        """The number and the settings of a trial for this worker; None when there is nothing to do now."""
        before, total = self.counts(), self.total
        if self.is_stopped or (total is not None and not before.waiting and before.results + before.running >= total):
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trial = self.study.ask(self._distributions.all)
        self._beat(trial._trial_id)
        # Several workers may have asked at once: the numbers say who came too late.
        if total is not None and self._comes_too_late(trial.number, total):
            trial.set_user_attr(_EXCESS, True)
            self.study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
            return None
        trial.set_user_attr(_HOST, host_name())
        self.trials[trial.number] = trial
        self._beaten = 0.0
        return trial.number, self._distributions.decoded(trial.params)

    def _comes_too_late(self, number: int, total: int) -> bool:
        found = self._all()
        own = next(one for one in found if one.number == number)
        earlier = counts_of(found, before=_first(own))
        return earlier.results + earlier.running + earlier.waiting >= total

    def take_over(self, number: int) -> bool:
        """Whether a trial of an earlier start of this worker is still its own."""
        trial = next((one for one in self._all() if one.number == number), None)
        if trial is None or trial.state.name != "RUNNING":
            return False
        self.trials[number] = self._optuna.trial.Trial(self.study, trial._trial_id)
        return True

    def tell(self, outcome: Outcome) -> None:
        """The result of one of this worker's trials."""
        trial = self.trials.pop(outcome.number, None)
        if trial is None:
            return
        state = state_of(self._optuna, outcome)
        value = outcome.value if state.name == "COMPLETE" else None
        self.study.tell(trial.number, value, state, skip_if_finished=True)

    def note_run(self, number: int, run: str) -> None:
        """Where the run of a trial is."""
        trial = self.trials.get(number)
        if trial is not None and trial.user_attrs.get(_RUN) != run:
            trial.set_user_attr(_RUN, run)

    def release(self, number: int) -> None:
        """Give a trial back: its settings are queued again, for any worker."""
        self.trials.pop(number, None)
        frozen = next((one for one in self._all() if one.number == number), None)
        if frozen is not None and frozen.state.name == "RUNNING":
            self.study.tell(number, state=self._optuna.trial.TrialState.FAIL, skip_if_finished=True)
            _retry(self._optuna)(self.study, frozen)

    # -- how it stands ------------------------------------------------------------------------------------------------

    def keep_up(self, now: float | None = None) -> None:
        """Say that this worker lives, and look for others that do not."""
        now = time.monotonic() if now is None else now
        if not hasattr(self._storage, "record_heartbeat") or now - self._beaten < self._sweep.heartbeat_s:
            return
        self._beaten = now
        for trial in self.trials.values():
            self._beat(trial._trial_id)
        self._start_clocks()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._optuna.storages.fail_stale_trials(self.study)

    def _beat(self, trial_id: int) -> None:
        if hasattr(self._storage, "record_heartbeat"):
            self._storage.record_heartbeat(trial_id)

    def _start_clocks(self) -> None:
        """A worker killed before its first heartbeat: Optuna never misses one, so whoever sees its trial gives it.

        Once for each trial, and noted there: a second one would only put off the moment when it counts as lost.
        """
        for one in self._all():
            if one.state.name == "RUNNING" and _HOST not in one.user_attrs and _CLOCK not in one.user_attrs:
                self._beat(one._trial_id)
                try:
                    self._storage.set_trial_user_attr(one._trial_id, _CLOCK, True)
                except self._optuna.exceptions.UpdateFinishedTrialError:  # over meanwhile
                    pass

    def counts(self) -> Counts:
        return counts_of(self._all())

    def _all(self) -> list[Any]:
        found: list[Any] = self.study.get_trials(deepcopy=False)
        return found

    def is_over(self) -> bool:
        """Whether all results are there, or somebody has stopped the sweep."""
        counts, total = self.counts(), self.total
        return self.is_stopped or (total is not None and counts.results >= total)

    @property
    def is_stopped(self) -> bool:
        return bool(self.study.user_attrs.get(_STOPPED))

    def stop(self, yes: bool = True) -> None:
        """Let all workers end after what they run now; or let them go on, also where they were paused."""
        self.study.set_user_attr(_STOPPED, yes)
        if not yes:
            self.study.set_user_attr(_PAUSED, "")

    def is_paused(self, asked: Pause | None) -> bool:
        """Whether all workers are to wait. `asked` is what the folder of this worker says, for all to know."""
        known = self.study.user_attrs.get(_PAUSED, "")
        if asked is not None and asked.paused and known != asked.id:
            self.study.set_user_attr(_PAUSED, known := asked.id)
        elif asked is not None and not asked.paused and known == asked.id:
            self.study.set_user_attr(_PAUSED, known := "")
        return bool(known)

    def outcomes(self) -> list[tuple[int, Mapping[str, Any], str, float | None, str | None, str]]:
        """(number, settings, state, value, run, host) of each trial that counts."""
        counts = self.counts()
        return [
            (
                one.number,
                self._distributions.decoded(one.params) if self._distributions.are_all_in(one.params) else {},
                one.state.name.lower(),
                one.value,
                one.user_attrs.get(_RUN),
                str(one.user_attrs.get(_HOST, "")),
            )
            for one in self._all()
            if one.number not in counts.replaced and not one.user_attrs.get(_EXCESS)
        ]


def open_storage(optuna: Any, url: str, folder: Path, heartbeat_s: float = 10.0) -> Any:
    """Optuna's storage for an address: "journal" is a file in the sweep's folder, for workers that share it."""
    if url == "journal" or url.startswith("journal:"):
        path = Path(url.partition("://")[2] or folder / "optuna.journal")
        path.parent.mkdir(parents=True, exist_ok=True)
        journal = optuna.storages.journal
        return optuna.storages.JournalStorage(journal.JournalFileBackend(str(path)))
    if url.startswith("sqlite:///"):
        Path(url.removeprefix("sqlite:///")).parent.mkdir(parents=True, exist_ok=True)
    interval = max(1, round(heartbeat_s))
    options: dict[str, Any] = {"heartbeat_interval": interval, "grace_period": SILENT * interval}
    name = "heartbeat_stale_trial_callback"
    options[name if hasattr(optuna.storages, "RetryHeartbeatStaleTrialCallback") else "failed_trial_callback"] = _retry(
        optuna
    )
    if url.startswith("sqlite"):
        options["engine_kwargs"] = {"connect_args": {"timeout": 60}}
    return open_made_by_another(lambda: optuna.storages.RDBStorage(_with_driver(url), **options), url)


def open_made_by_another(make: Callable[[], Any], url: str, again_s: float = 0.3) -> Any:
    """The storage; again where another worker has just made a table that this one wanted to make."""
    for trial in range(_OPENINGS):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return make()
        except Exception as fault:  # whatever the driver raises
            if trial == _OPENINGS - 1 or not any(word in str(fault) for word in _MADE_MEANWHILE):
                raise storage_error(url, fault) from None
            time.sleep(again_s)
    raise AssertionError


def storage_error(url: str, fault: Exception) -> StepscopeError:
    """What to say when a storage does not answer; without a password that may be in its address."""
    place = url.rpartition("@")[2] if "@" in url else url
    first = next(iter(str(fault).strip().splitlines()), type(fault).__name__)
    return ConfigError(f"the storage {place} cannot be used: {first}")


def _retry(optuna: Any) -> Any:
    kinds = optuna.storages
    kind = getattr(kinds, "RetryHeartbeatStaleTrialCallback", None) or kinds.RetryFailedTrialCallback
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kind(max_retry=_RETRIES)


def _with_driver(url: str) -> str:
    """PostgreSQL through psycopg 3 where the older driver is not installed.

    >>> _with_driver("sqlite:///sweep.db")
    'sqlite:///sweep.db'
    """
    for plain in ("postgresql://", "postgres://"):
        if url.startswith(plain) and find_spec("psycopg2") is None and find_spec("psycopg") is not None:
            return "postgresql+psycopg://" + url.removeprefix(plain)
    return url
