"""Starts the measured script as a process of its own and keeps what it cost."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overhead_arms.plans import Plan

__all__ = ["Process", "Run", "Setup"]

HERE = Path(__file__).parent
CPU, WALL, MEMORY = 1, 2, 3
"""Columns of a mark; column 0 is the number of steps done."""


@dataclass(frozen=True)
class Setup:
    """What all arms have in common."""

    python: str
    source: Path
    """The checkout whose src/ is measured."""
    device: str = "cpu"
    tiny: bool = False


@dataclass(frozen=True)
class Run:
    """One whole process: CPU seconds since its start, `perf_counter` seconds, and resident bytes at some steps."""

    arm: str
    steps: int
    marks: list[list[float]]
    whole_cpu: float
    """Processes it started and waited for included."""
    whole_wall: float
    started_wall: float
    end_cpu: float
    end_wall: float
    folder_bytes: int
    facts: dict[str, Any] = field(default_factory=dict)

    def at(self, step: float, column: int = CPU) -> float:
        """The clock when this many steps were done; between two marks, in proportion."""
        before = self.marks[0]
        for mark in self.marks:
            if mark[0] >= step:
                share = (step - before[0]) / (mark[0] - before[0]) if mark[0] > before[0] else 1.0
                return before[column] + share * (mark[column] - before[column])
            before = mark
        raise ValueError(f"{self.arm} took {self.steps} steps, not {step}")

    def between(self, first: float, last: float, column: int = CPU) -> float:
        """Seconds from step `first` to step `last`."""
        return self.at(last, column) - self.at(first, column)

    def blocks(self, since: float, column: int = CPU) -> list[float]:
        """Seconds a step, from mark to mark."""
        marks = [mark for mark in self.marks if mark[0] >= since]
        return [(b[column] - a[column]) / (b[0] - a[0]) for a, b in itertools.pairwise(marks)]

    def whole(self, steps: int, column: int = CPU) -> float:
        """The whole process had it ended after `steps`: its start, those steps, and the end it had."""
        if column == CPU:
            return self.at(steps) + self.whole_cpu - self.end_cpu
        return self.at(steps, WALL) - self.started_wall + self.whole_wall - (self.end_wall - self.started_wall)


class Process:
    """The script of one arm, started; `finish` waits for its end."""

    def __init__(
        self, arm: str, plan: Plan, setup: Setup, steps: int, seconds: float = 0.0, count: bool = False, core: int = -1
    ) -> None:
        self._arm, self._plan = arm, plan
        self._home = tempfile.TemporaryDirectory(prefix="overhead-")
        self._folder = Path(self._home.name)
        (self._folder / "work").mkdir()
        order = {
            "steps": steps,
            "seconds": seconds,
            "block": plan.block or max(1, steps // 50),
            "counted": plan.counted if count else 0,
            "out": str(self._folder / "readings.json"),
        }
        with (self._folder / "printed").open("w") as printed:
            self._started = time.perf_counter()
            self._process = subprocess.Popen(
                command_of(arm, plan, setup),
                cwd=self._folder / "work",
                env=environment(setup, order),
                stdout=printed,
                stderr=printed,
            )
        if core >= 0:
            os.sched_setaffinity(self._process.pid, {core})

    def finish(self) -> Run:
        _, status, used = os.wait4(self._process.pid, 0)
        wall = time.perf_counter() - self._started
        self._process.returncode = os.waitstatus_to_exitcode(status)
        readings = self._folder / "readings.json"
        if self._process.returncode or not readings.exists():
            printed = (self._folder / "printed").read_text()[-3000:]
            raise SystemExit(f"{self._arm} on {self._plan.name} ended with {self._process.returncode}:\n{printed}")
        facts = json.loads(readings.read_text())
        size = sum(file.stat().st_size for file in (self._folder / "work").rglob("*") if file.is_file())
        self._home.cleanup()
        return Run(
            arm=self._arm,
            steps=facts.pop("steps"),
            marks=facts.pop("marks"),
            whole_cpu=used.ru_utime + used.ru_stime,
            whole_wall=wall,
            started_wall=self._started,
            end_cpu=facts.pop("end_cpu"),
            end_wall=facts.pop("end_wall"),
            folder_bytes=size,
            facts=facts,
        )


def command_of(arm: str, plan: Plan, setup: Setup) -> list[str]:
    words = arm.split(" ")
    launcher = ["-m", "stepscope", "run", *words[1:]] if words[0] == "stepscope" else []
    command = [setup.python, *launcher, str(HERE / "train.py"), plan.name, "--arm", words[0]]
    return [*command, "--device", setup.device, *(["--tiny"] if setup.tiny else [])]


def environment(setup: Setup, order: dict[str, Any]) -> dict[str, str]:
    """The caller's, without settings of ours; PYTHONPATH stays, since torch may be found through it.

    Bytecode is kept, as it is for a user: compiling all of Stepscope at each start takes two thirds of a second.
    """
    left_out = ("STEPSCOPE", "BENCH", "PYTHONDONTWRITEBYTECODE")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(left_out)}
    path = [str(setup.source / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    threads = {} if setup.device == "cuda" else {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    return {
        **kept,
        **threads,
        "PYTHONPATH": os.pathsep.join(path),
        "BENCH_ORDER": json.dumps(order),
        "WANDB_MODE": "offline",
    }
