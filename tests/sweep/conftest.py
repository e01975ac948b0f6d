"""A folder with a small training script, and `stepscope sweep` as a user types it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from stepscope.cli.main import commands
from stepscope.errors import StepscopeError

TRAIN = """
import argparse, math, os, signal, sys, time
import stepscope

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
parser.add_argument("--steps", type=int, default=3)
parser.add_argument("--pause", type=float, default=0.0)
parser.add_argument("--crash", type=int, default=0)
parser.add_argument("--deaf", type=int, default=0)
parser.add_argument("--beside", type=int, default=1, help="wait until this many runs have started")
args = parser.parse_args()
if args.deaf:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
run = stepscope.init(config=vars(args), console=False, system=False, git=False)
with open("started.txt", "a") as file:
    file.write(f"{args.lr} {os.getpid()} {os.environ.get('CUDA_VISIBLE_DEVICES')}\\n")
while len(open("started.txt").readlines()) < args.beside:
    time.sleep(0.01)
if args.crash and len([line for line in open("started.txt") if line.startswith(f"{args.lr} ")]) <= args.crash:
    raise RuntimeError(f"no luck with {args.lr}")
for step in range(args.steps):
    run.log({"loss": math.nan if args.lr >= 10 else (1 - args.lr) ** 2 + 1 / (step + 1)}, step=step)
    time.sleep(args.pause)
with open("done.txt", "a") as file:
    file.write(f"{args.lr}\\n")
"""


class Folder:
    """Where a sweep is started, and what came of it."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.monkeypatch = monkeypatch
        monkeypatch.setenv("STEPSCOPE_QUIET", "1")
        (path / "train.py").write_text(TRAIN)

    def write(self, **values: Any) -> None:
        """The sweep file; JSON is YAML."""
        base = {"script": "train.py", "watch": False, "method": "grid", "metric": {"name": "loss", "goal": "min"}}
        (self.path / "sweep.yaml").write_text(json.dumps({**base, **values}))

    def start(self, *args: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "stepscope", "sweep", "sweep.yaml", *args]
        return subprocess.Popen(command, cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def sweep(self, *args: str, code: int = 0) -> str:
        """Run it to its end, in this process; everything it said."""
        self.monkeypatch.chdir(self.path)
        result = CliRunner().invoke(commands, ["sweep", "sweep.yaml", *args])
        error = result.exception
        got = error.exit_code if isinstance(error, StepscopeError) else result.exit_code
        said = result.output + (str(error) if isinstance(error, StepscopeError) else "")
        assert got == code, (said, error)
        return said

    def status(self) -> list[dict[str, Any]]:
        runs: list[dict[str, Any]] = json.loads(self.sweep("--status", "--json"))["runs"]
        return runs

    def lines(self, name: str) -> list[str]:
        file = self.path / name
        return file.read_text().splitlines() if file.exists() else []

    def wait_for(self, what: Callable[[], Any], seconds: float = 300.0) -> None:
        end = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < end, "it did not happen"
            time.sleep(0.02)

    def pids(self) -> list[int]:
        return [int(line.split()[1]) for line in self.lines("started.txt")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    return Folder(tmp_path, monkeypatch)
