"""A small store of real runs, and the command line as a user types it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import stepscope

Result = subprocess.CompletedProcess[str]


def fail(run: stepscope.Run) -> None:
    with run:
        run.log({"loss": 1.0, "=cmd": 2.0}, step=0)
        run.log({"loss": float("nan")}, step=1)
        raise ValueError("boom \x1b[31m")


@pytest.fixture(scope="session")
def small_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs: two that finished with different learning rates, and one with a hostile name that failed."""
    store = tmp_path_factory.mktemp("store")
    for lr in (0.1, 0.01):
        config = {"lr": lr, "depth": 3}
        with stepscope.init(
            project="vae", name=f"lr {lr}", config=config, dir=store, console=False, system=False
        ) as run:
            for step in range(50):
                run.log({"loss": 1 / (step + 1) + lr, "val/acc": step / 50}, step=step)
    config = {"lr": 1.0, "prompt": "word " * 100}
    hostile = "=HYPERLINK(1)\x1b]52;c;ZXZpbA==\x07\x1b[31mred"
    with pytest.raises(ValueError, match="boom"):
        fail(stepscope.init(project="gan", name=hostile, config=config, dir=store, console=False, system=False))
    return store


@pytest.fixture
def cli(small_store: Path) -> Callable[..., Result]:
    """`cli("runs", "--json")` runs the command line in a process of its own, in the store's parent folder."""

    def run(*args: str, check: bool = True) -> Result:
        command = [sys.executable, "-m", "stepscope", *args]
        if args and args[0] != "--help":
            command += ["--dir", str(small_store)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert not check or done.returncode == 0, done.stderr
        return done

    return run
