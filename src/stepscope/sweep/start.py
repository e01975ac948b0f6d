"""What a run of a sweep is started with: its command and its environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from stepscope.sweep.commands import command_of
from stepscope.sweep.space import nested
from stepscope.sweep.spec import Sweep
from stepscope.sweep.trials import Trial
from stepscope.track.config import plain
from stepscope.track.run_services import ATTEMPT_VARIABLE, RUN_VARIABLE
from stepscope.track.sweep_assignment import VARIABLE, Assigned


def command_and_environment(sweep: Sweep, trial: Trial, store: Path, folder: Path) -> tuple[list[str], dict[str, str]]:
    """Ready for `Process.start`."""
    command = command_of(sweep, trial.params, number=trial.number, slot=trial.slot)
    environment = {name: value for name, value in os.environ.items() if name not in (RUN_VARIABLE, ATTEMPT_VARIABLE)}
    environment |= {
        "PYTHONUNBUFFERED": "1",  # so that what a killed run printed is in its file
        **sweep.environment,
        **sweep.slot(trial.slot),
        "STEPSCOPE_DIR": str(store),
        VARIABLE: assigned_text(sweep, trial, folder),
    }
    return command, environment


def assigned_text(sweep: Sweep, trial: Trial, folder: Path) -> str:
    """What the run knows of its place in the sweep; differs for each attempt, so that its process can be found."""
    assigned = Assigned(
        group=sweep.name,
        project=sweep.project,
        name=f"{sweep.name}-{trial.number}",
        tags=["sweep", *sweep.tags],
        config={name: plain(value) for name, value in nested(_as_settings(sweep, trial)).items()},
        goals={} if sweep.metric is None else {sweep.metric.name: sweep.metric.goal},
        note=str(trial.note(folder).absolute()),
    )
    return msgspec.json.encode(assigned).decode()


def _as_settings(sweep: Sweep, trial: Trial) -> dict[str, Any]:
    """The parameters as the script will call them: what parses `--batch-norm` makes `batch_norm` of it."""
    is_parsed = sweep.arguments.style in ("equals", "space")
    return {name.replace("-", "_") if is_parsed else name: value for name, value in trial.params.items()}
