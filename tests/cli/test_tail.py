from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import stepscope

Cli = Callable[..., subprocess.CompletedProcess[str]]


def test_an_ended_run_is_told_in_two_lines(cli: Cli) -> None:
    lines = cli("tail", "lr 0.1").stdout.splitlines()
    assert lines[1].split() == ["step", "49", "loss", "0.12", "val/acc", "0.98"]
    assert lines[-1].startswith("finished after")


def test_follows_a_live_run_to_its_end(store: Path) -> None:
    run = stepscope.init(project="live", name="live", dir=store, console=False, system=False)
    run.log({"loss": 2.0}, step=0)
    command = [sys.executable, "-u", "-m", "stepscope", "tail", "live", "--dir", str(store), "--json"]
    follower = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert follower.stdout is not None
    assert json.loads(follower.stdout.readline()) == {"event": "metrics", "step": 0, "values": {"loss": 2.0}}
    run.log({"loss": 1.0}, step=1)
    run.alert("slow", "half the speed of yesterday")
    assert json.loads(follower.stdout.readline())["values"] == {"loss": 1.0}
    assert json.loads(follower.stdout.readline())["title"] == "slow"
    run.finish()
    out, _ = follower.communicate(timeout=20)
    assert json.loads(out.splitlines()[-1])["status"] == "finished"
