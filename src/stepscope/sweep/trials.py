"""The runs of a sweep as its journal has them: which settings, which attempts, how each stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

State = Literal["running", "finished", "pruned", "diverged", "timeout", "failed", "interrupted", "requeued"]
"""failed: crashed, and not to be tried again · interrupted: by Ctrl-C or a kill; run again when the sweep continues ·
requeued: the worker was lost, and its settings went back to all workers."""
OVER: frozenset[State] = frozenset({"finished", "pruned", "diverged", "timeout", "failed"})


@dataclass
class Trial:
    """One setting and what became of it."""

    number: int
    params: dict[str, Any]
    state: State = "running"
    attempt: int = 0
    """Counted from 1; more than one after a crash or an interruption."""
    crashes: int = 0
    slot: int = 0
    pid: int = 0
    pid_started: float = 0.0
    host: str = ""
    boot_id: str = ""
    started: float = 0.0
    ended: float | None = None
    value: float | None = None
    exit_code: int | None = None
    reason: str = ""
    run: str | None = None
    """The folder of its run."""
    step: int | None = None
    recent: list[float] = field(default_factory=list)
    """The metric's last readings, for a small line."""

    @property
    def is_over(self) -> bool:
        return self.state in OVER

    def note(self, folder: Path) -> Path:
        return folder / f"{self.number:04d}.{self.attempt}.runs"

    def output(self, folder: Path) -> Path:
        return folder / f"{self.number:04d}.{self.attempt}.log"


@dataclass
class History:
    """What the journal says."""

    trials: dict[int, Trial] = field(default_factory=dict)
    raw: Mapping[str, Any] | None = None
    """The sweep file as it was at the last start."""
    seed: int | None = None
    spent_s: float = 0.0
    """Time that earlier starts of the sweep have taken."""
    starts: int = 0
    name: str | None = None
    began: float = 0.0
    """When the last start was."""

    @property
    def next_number(self) -> int:
        return max(self.trials, default=-1) + 1


def replay(entries: Iterable[Mapping[str, Any]]) -> History:
    """The state after these lines; lines of a newer Stepscope that mean nothing here are left out."""
    history = History()
    began = last = 0.0
    for entry in entries:
        at = float(entry.get("time") or 0.0)
        if entry["event"] == "sweep":
            history.spent_s += max(last - began, 0.0)
            began = at
            history.raw, history.seed = entry.get("raw"), entry.get("seed")
            history.starts += 1
            history.name, history.began = entry.get("name"), at
        else:
            _apply(history.trials, entry, at)
        last = at
    history.spent_s += max(last - began, 0.0)
    return history


def _apply(trials: dict[int, Trial], entry: Mapping[str, Any], at: float) -> None:
    number = entry.get("trial")
    if not isinstance(number, int):
        return
    if entry["event"] == "start" and isinstance(entry.get("params"), dict):
        trial = trials.setdefault(number, Trial(number, entry["params"]))
        trial.attempt, trial.slot = int(entry.get("attempt", 1)), int(entry.get("slot", 0))
        trial.host, trial.boot_id = str(entry.get("host", "")), str(entry.get("boot_id", ""))
        trial.state, trial.started, trial.ended, trial.pid = "running", at, None, 0
        trial.reason, trial.run, trial.value, trial.exit_code = "", None, None, None
    elif number in trials and entry["event"] == "process":
        trials[number].pid = int(entry.get("pid", 0))
        trials[number].pid_started = float(entry.get("pid_started", 0.0))
    elif number in trials and entry["event"] == "value":  # by another metric than when it ended
        trials[number].value = entry.get("value")
    elif number in trials and entry["event"] == "end":
        _end(trials[number], entry, at)


def _end(trial: Trial, entry: Mapping[str, Any], at: float) -> None:
    trial.state, trial.ended = entry.get("state", "interrupted"), at
    trial.value, trial.exit_code = entry.get("value"), entry.get("exit_code")
    trial.reason, trial.run, trial.step = str(entry.get("reason", "")), entry.get("run"), entry.get("step")
    trial.crashes = int(entry.get("crashes", trial.crashes))
