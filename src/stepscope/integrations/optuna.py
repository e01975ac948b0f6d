"""Optuna: every trial of a study as a run, in a group of the study's name.

    from stepscope.integrations.optuna import StepscopeCallback

    stepscope_trials = StepscopeCallback(metric="val_loss")

    @stepscope_trials.track                    # each trial is a live run; stepscope.log() belongs to it
    def objective(trial): ...

    study.optimize(objective, n_trials=50, callbacks=[stepscope_trials])

Without the decorator, the callback writes each trial's run when the trial ends.
"""

from __future__ import annotations

import functools
import math
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import optuna

from stepscope import fence
from stepscope.track import session
from stepscope.track.ending import Ending, ending_of
from stepscope.track.logger import Logger
from stepscope.track.run import Run
from stepscope.track.secondary_run import open_detached

__all__ = ["StepscopeCallback"]

T = TypeVar("T")


class StepscopeCallback:
    """Records trials as runs: parameters as config, values and intermediate values, how each ended.

    `metric` names what the objective returns (several names for several objectives; `value` without one). The other
    arguments are those of `stepscope.init`; `group` is the study's name unless given.
    """

    def __init__(
        self,
        metric: str | Sequence[str] | None = None,
        *,
        project: str | None = None,
        group: str | None = None,
        tags: Sequence[str] = (),
        dir: str | os.PathLike[str] | None = None,
    ) -> None:
        self._metric = [metric] if isinstance(metric, str) else None if metric is None else list(metric)
        self._project = project
        self._group = group
        self._tags = ["optuna", *tags]
        self._dir = dir
        self._here = threading.local()
        self._own = threading.Lock()
        self._done: set[tuple[str, int]] = set()

    @property
    def run(self) -> Run | None:
        """The run of this thread's trial: what to log to if `n_jobs` is above 1."""
        return getattr(self._here, "run", None)

    # -- while a trial goes ------------------------------------------------------------------------------------------

    def track(self, objective: Callable[[optuna.Trial], T]) -> Callable[[optuna.Trial], T]:
        """Make each call of the objective a run. Its return value, exceptions and random numbers are unaffected."""

        @functools.wraps(objective)
        def tracked(trial: optuna.Trial) -> T:
            # `stepscope.log` has one current run: with n_jobs > 1 it can only be one trial at a time.
            is_current = self._own.acquire(blocking=False)
            fence.fenced("opening the trial's run")(self._begin)(trial, is_current)
            try:
                result = objective(trial)
            except BaseException as error:
                fence.fenced("ending the trial's run")(self._end)(trial, None, error)
                raise
            else:
                fence.fenced("ending the trial's run")(self._end)(trial, result, None)
                return result
            finally:
                self._here.run = None
                if is_current:
                    self._own.release()

        return tracked

    def _begin(self, trial: optuna.Trial, is_current: bool) -> None:
        named = self._named(trial.study.study_name, trial.number)
        self._here.run = run = session.init(**named) if is_current else open_detached(**named)
        self._define(run, trial.study)
        self._here.reports = reports = Reports(run, self._names(1)[0])
        as_ever = trial.report

        def report(value: float, step: int) -> None:
            as_ever(value, step)
            fence.call("recording an intermediate value", reports.take, value, step)

        trial.__dict__["report"] = report  # for this one trial: values are seen as they come

    def _end(self, trial: optuna.Trial, result: Any, error: BaseException | None) -> None:
        run: Run | None = self.run
        if run is None:
            return
        trial.__dict__.pop("report", None)
        self._done.add((trial.study.study_name, trial.number))
        values = None if error is not None else _numbers(result)
        if isinstance(error, optuna.TrialPruned):
            ending = _PRUNED
        elif error is None and values is None:  # Optuna counts such a trial as failed
            ending = Ending("failed", error=f"the objective returned {result!r}, which is not a number")
        else:
            ending = ending_of(error)
        self._write(run, self._here.reports, trial.params, trial.user_attrs, values, ending)

    # -- when it is over -----------------------------------------------------------------------------------------------

    def __call__(self, study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
        """Called by Optuna after each trial. Tracked trials are already written."""
        fence.call("recording the trial", self._record, study, trial)

    def _record(self, study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
        if (study.study_name, trial.number) in self._done:
            self._done.discard((study.study_name, trial.number))
            return
        began = None if trial.datetime_start is None else trial.datetime_start.timestamp()
        run = open_detached(**self._named(study.study_name, trial.number), created=began)
        self._define(run, study)
        reports = Reports(run, self._names(1)[0])
        for step, value in sorted(trial.intermediate_values.items()):
            reports.take(value, step)
        states = optuna.trial.TrialState
        failed = Ending("failed", error=trial.system_attrs.get("fail_reason") or "the objective raised an error")
        ending = {states.COMPLETE: Ending("finished"), states.PRUNED: _PRUNED}.get(trial.state, failed)
        values = trial.values if trial.state == states.COMPLETE else None
        self._write(run, reports, trial.params, trial.user_attrs, values, ending)

    # -- what both write -----------------------------------------------------------------------------------------------

    def _named(self, study: str, number: int) -> dict[str, Any]:
        return {
            "project": self._project,
            "name": f"{study}-{number}",
            "group": self._group or study,
            "tags": self._tags,
            "dir": self._dir,
        }

    def _names(self, count: int) -> list[str]:
        """A name for each value that the objective returns."""
        given = self._metric or (["value"] if count == 1 else [])
        return (given + [f"value_{place}" for place in range(len(given), count)])[:count]

    def _define(self, run: Run, study: optuna.Study) -> None:
        for name, direction in zip(self._names(len(study.directions)), study.directions, strict=True):
            run.define(name, goal="max" if direction == optuna.study.StudyDirection.MAXIMIZE else "min")

    def _write(
        self,
        run: Run,
        reports: Reports,
        params: Mapping[str, Any],
        attributes: Mapping[str, Any],
        values: Sequence[float] | None,
        ending: Ending,
    ) -> None:
        """A trial's result, and the run's end."""
        reports.write()
        run.config.update(dict(params))
        run.summary.update(dict(attributes))
        for name, value in zip(self._names(len(values or ())), values or (), strict=True):
            run.summary[name] = value
            if not reports.has(name):  # as a series too, so that charts and tables of metrics have it
                run.log({name: value})
            reports.conclude(name, value)
        if ending is _PRUNED:
            run.tags.add("pruned")
        run._end(ending)


_PRUNED = Ending("stopped", error="the trial was pruned")


def _numbers(result: Any) -> list[float] | None:
    """The objective's return value as numbers; None if Optuna would reject it."""
    try:
        values = [float(value) for value in (result if isinstance(result, list | tuple) else [result])]
    except (TypeError, ValueError):
        return None
    return None if any(math.isnan(value) for value in values) else values


class Reports:
    """A trial's intermediate values, written one behind: if the objective logs the same name itself, that is enough."""

    def __init__(self, run: Run, metric: str) -> None:
        self._run = run
        self._metric = metric
        self._logger = Logger(run._sink)
        self._waiting: tuple[float, int] | None = None
        self._written: tuple[float, int] | None = None

    def take(self, value: float, step: int) -> None:
        self.write()
        self._waiting = (float(value), int(step))

    def write(self) -> None:
        if self._waiting is not None and not self._logged(self._metric):
            self._logger.log({self._metric: self._waiting[0]}, self._waiting[1])
            self._written = self._waiting
        self._waiting = None

    def conclude(self, name: str, value: float) -> None:
        """The series ends with the objective's return value: the last report of a trial may differ."""
        if name == self._metric and self._written is not None and self._written[0] != value:
            self._logger.log({name: value}, self._written[1] + 1)

    def has(self, name: str) -> bool:
        """Whether the run has a series of this name."""
        return self._logged(name) or (self._written is not None and name == self._metric)

    def _logged(self, name: str) -> bool:
        return name in self._run._logger._with_name
