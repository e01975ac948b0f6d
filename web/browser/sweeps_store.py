"""A sweep of an encoder's settings: most runs are over, some were pruned, one diverged. For tests and screenshots."""

from __future__ import annotations

import math
import random
import time
from pathlib import Path
from typing import Any

from stepscope.records import End, RunMeta
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.format.writer_identity import host_name
from stepscope.runs.write.writer import RunWriter
from stepscope.sweep.journal import Journal, folder_of

NAME = "encoder width and rate"
RAW: dict[str, Any] = {
    "script": "train.py",
    "method": "tpe",
    "runs": 30,
    "metric": {"name": "val/loss", "goal": "min"},
    "parameters": {
        "lr": {"min": 1e-4, "max": 1e-1, "log": True},
        "width": [32, 64, 128, 256],
        "optimizer": ["adam", "sgd"],
    },
}
OVER = 22
STEPS = 40
_MINUTES = 3.0


def sweeps(store: Path) -> None:
    """22 of 30 runs are over, and nobody is at work; `Work` takes it up."""
    rng = random.Random(3)
    journal = Journal(folder_of(store, NAME))
    journal.open()
    begin = time.time() - (OVER + 1) * _MINUTES * 60
    journal.write("sweep", name=NAME, raw=RAW, seed=0, pid=1, time=begin)
    for number in range(OVER):
        _trial(store, journal, number, begin + number * _MINUTES * 60, rng)
    journal.close()


def _trial(store: Path, journal: Journal, number: int, at: float, rng: random.Random) -> None:
    params = {
        "lr": float(f"{10 ** rng.uniform(-4, -1):.3g}"),
        "width": rng.choice([32, 64, 128, 256]),
        "optimizer": rng.choice(["adam", "sgd"]),
    }
    far = math.log10(params["lr"] / (3e-3 if params["optimizer"] == "adam" else 3e-2))
    reach = 0.31 + 0.14 * far**2 + 4 / params["width"] + rng.gauss(0, 0.01)
    is_diverged = params["optimizer"] == "adam" and params["lr"] > 0.05
    is_pruned = not is_diverged and number > 4 and reach > 0.7
    state = "diverged" if is_diverged else "pruned" if is_pruned else "finished"
    steps = STEPS // 4 if state != "finished" else STEPS
    run, value = _write(store, number, params, at, reach, steps, is_diverged)
    reason = {
        "pruned": f"{value:.4g} by step {steps}; the median of 5 others is 0.62",
        "diverged": "train/loss NaN 3 times in a row",
    }.get(state, "")
    journal.write("start", trial=number, attempt=1, params=params, host="gpu-03", time=at)
    ended = at + 60 * _MINUTES * steps / STEPS
    value = None if is_diverged else value
    journal.write(
        "end", trial=number, attempt=1, state=state, value=value, step=steps, reason=reason, run=run, time=ended
    )


def _write(
    store: Path, number: int, params: dict[str, Any], at: float, reach: float, steps: int, diverges: bool
) -> tuple[str, float]:
    """The run's folder and its last value."""
    meta = RunMeta(
        id=new_run_id(at),
        project="encoder",
        name=f"run {number}",
        created=at,
        group=NAME,
        tags=["sweep"],
        config=params,
    )
    path = create_run(store, meta)
    writer = RunWriter(path, run_id=meta.id, heartbeat_s=0, fsync_s=0, elsewhere="gpu-03")
    row = writer.keyset(("train/loss", "val/loss"))
    value = math.nan
    for step in range(1, steps + 1):
        value = math.nan if diverges and step > 6 else reach + 2.1 * math.exp(-step / 7)
        row.write(step, (value * 0.9, value))
    status: Any = "finished" if steps == STEPS else "stopped"
    writer.close(End(time=at + 60 * _MINUTES * steps / STEPS, status=status))
    return str(path), value


class Work:
    """A process that is at work on the sweep, one run after the other."""

    def __init__(self, store: Path) -> None:
        self._journal = Journal(folder_of(store, NAME))
        self._journal.open()
        self._number = OVER - 1

    def start(self) -> None:
        self._number += 1
        params = {"lr": 0.0031, "width": 256, "optimizer": "adam"}
        self._journal.write("start", trial=self._number, attempt=1, params=params, host=f"not-{host_name()}")

    def end(self, value: float) -> None:
        self._journal.write("end", trial=self._number, attempt=1, state="finished", value=value, step=STEPS)
