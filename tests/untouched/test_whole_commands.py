"""The warm process stands for the real thing: whole commands, started from nothing, give the same results."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from .arms import HERE, command
from .harness import SCRIPTS, Done, differences, environment, read_back

CASES = [
    ("backward_without_optimizer", "plain"),
    ("function_class", "run"),
    ("generate_loop", "check"),
    ("no_optimizer_modules", "run"),
    ("autograd_grad_only", "run"),
    ("schedulers", "check"),
    ("train_mlp", "run"),
    ("conv_train_eval", "profile"),
    ("patch_relu_after", "check"),
    ("crash_in_forward", "run"),
]
_OF_ITS_OWN = ("patched ", "rng numpy", "environment", "meta path", "warning filters", "gc", "folder", "argv")
"""What a process started from nothing has otherwise: numpy is not seeded, PYTHONPATH is set, nothing is frozen."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arm"), CASES, ids=[f"{name}-{arm}" for name, arm in CASES])
def test_a_whole_command_gives_what_the_warm_process_gives(
    run_script: Callable[[str, str], Done], tmp_path: Path, name: str, arm: str
) -> None:
    whole = comparable(whole_command(SCRIPTS / f"{name}.py", arm, tmp_path / "run"), arm)
    found = differences(comparable(run_script(name, arm), arm), whole, arm)
    assert not found, "\n".join(found)


def comparable(done: Done, arm: str) -> Done:
    state = {key: value for key, value in done.state.items() if not key.startswith(_OF_ITS_OWN)}
    out = "" if arm == "profile" else done.out  # the times in its report are never the same
    return replace(done, state=state, out=out)


def whole_command(script: Path, arm: str, folder: Path) -> Done:
    (folder / "work").mkdir(parents=True)
    line = [str(script)] if arm == "plain" else ["-m", "stepscope", *command(arm, str(script))]
    env = environment(folder)
    env["PYTHONPATH"] = os.pathsep.join([f"{HERE}/startup", env.get("PYTHONPATH", "")])
    env["UNTOUCHED_STATE"] = str(folder / "state.json")
    with open(folder / "out", "wb") as out, open(folder / "err", "wb") as err:
        streams = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err}
        done = subprocess.run([sys.executable, *line], cwd=folder / "work", env=env, timeout=120, **streams)
    return Done(done.returncode, 0.0, *read_back(folder))
