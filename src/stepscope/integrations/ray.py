"""Ray Tune: every trial as a run, in a group of the experiment's name.

    from stepscope.integrations.ray import StepscopeLoggerCallback

    tuner = tune.Tuner(train, run_config=tune.RunConfig(callbacks=[StepscopeLoggerCallback()]))

The callback runs in the driver, where Tune receives all results, so that the workers are unaffected.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ray.tune.logger import LoggerCallback
from ray.tune.result import AUTO_RESULT_KEYS, DONE, TRAINING_ITERATION

from stepscope import fence
from stepscope.track.ending import Ending
from stepscope.track.run import Run
from stepscope.track.secondary_run import open_detached
from stepscope.track.secrets import mask_text
from stepscope.track.values import flat

__all__ = ["StepscopeLoggerCallback"]

_COLOUR = re.compile("\x1b\\[[0-9;]*m")
TIMES = ("time_this_iter_s", "time_total_s")
"""Fields that Tune adds to results and that are worth a series."""


class StepscopeLoggerCallback(LoggerCallback):  # type: ignore[misc]
    """Records trials as runs: config, results by iteration, and how each ended.

    `group` is the experiment's name unless given; results go to `dir`, to STEPSCOPE_DIR, or to `stepscope-runs` where
    the driver was started. `exclude` names results to exclude.
    """

    def __init__(
        self,
        project: str | None = None,
        group: str | None = None,
        tags: Sequence[str] = (),
        dir: str | os.PathLike[str] | None = None,
        exclude: Sequence[str] = (),
    ) -> None:
        self._project = project
        self._group = group
        self._tags = ["ray", *tags]
        # Absolute, because Tune may work in another folder when the first trial starts.
        self._dir = str(Path(dir or os.environ.get("STEPSCOPE_DIR") or "stepscope-runs").absolute())
        self._exclude = {*AUTO_RESULT_KEYS, DONE, *exclude} - set(TIMES)
        self._runs: dict[str, Run] = {}

    def log_trial_start(self, trial: Any) -> None:
        fence.call("opening the trial's run", self._open, trial)

    def _open(self, trial: Any) -> Run:
        run = self._runs.get(trial.trial_id)
        if run is None:
            run = self._runs[trial.trial_id] = open_detached(
                project=self._project,
                name=str(trial),
                config=trial.config,
                tags=self._tags,
                group=self._group or getattr(trial.storage, "experiment_dir_name", None),
                dir=self._dir,
            )
        return run

    def log_trial_result(self, iteration: int, trial: Any, result: Mapping[str, Any]) -> None:
        fence.call("recording a trial's result", self._log, trial, result)

    def _log(self, trial: Any, result: Mapping[str, Any]) -> None:
        values = {
            f"ray/{name}" if name in TIMES else name: value
            for name, value in flat(_kept(result, self._exclude)).items()
        }
        self._open(trial).log(values, step=result.get(TRAINING_ITERATION))

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        fence.call("ending the trial's run", self._end, trial, failed)

    def _end(self, trial: Any, failed: bool) -> None:
        run = self._runs.pop(trial.trial_id, None)
        if run is not None:
            run._end(_failure(trial) if failed else Ending("finished"))

    def on_experiment_end(self, trials: Any = (), **info: Any) -> None:
        """Trials that Tune stopped on request have ended too."""
        for run in self._runs.values():
            fence.call("ending the trial's run", run.finish, "stopped")
        self._runs.clear()

    def __getstate__(self) -> dict[str, Any]:
        """Tune stores the callback with the experiment; open runs stay with this process."""
        return {**self.__dict__, "_runs": {}}


def _kept(result: Mapping[str, Any], exclude: set[str]) -> dict[str, Any]:
    return {
        name: value
        for name, value in result.items()
        if name not in exclude and not str(name).startswith("__") and value is not None and not isinstance(value, str)
    }


def _failure(trial: Any) -> Ending:
    """The error, from the file in which Tune stores its text."""
    said = ""
    if trial.error_file is not None:
        try:
            said = _COLOUR.sub("", Path(trial.error_file).read_text(errors="replace")).strip()
        except OSError:  # on another machine's disk
            pass
    lines = said.splitlines() or ["the trial ended with an error"]
    return Ending("failed", 1, mask_text(lines[-1][:10_000]), mask_text(said[-200_000:]) or None)
