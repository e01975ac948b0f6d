from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner

import stepscope
from stepscope.cli.main import commands

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
    out, _ = follower.communicate(timeout=300)
    assert json.loads(out.splitlines()[-1])["status"] == "finished"


def test_the_last_lines_of_the_console_come_first_and_show_has_all(store: Path) -> None:
    with stepscope.init(dir=store, name="talks", system=False, git=False):
        for line in range(30):
            print(f"line {line}\x1b[31m")
    runner = CliRunner()
    tail = runner.invoke(commands, ["tail", "--console", "--dir", str(store)], catch_exceptions=False).output
    assert [line for line in tail.splitlines() if line.startswith("line")][-1] == "line 29"
    assert "line 3\n" not in tail
    shown = runner.invoke(commands, ["show", "--console", "--dir", str(store)], catch_exceptions=False).output
    assert shown == "".join(f"line {line}\n" for line in range(30))
