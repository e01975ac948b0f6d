from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from click.testing import CliRunner
from tests.runs.written import new_run, quiet_writer

from stepscope.cli.main import commands
from stepscope.errors import NotFound
from stepscope.records import End, Finding, FindingEvent

Cli = Callable[..., CompletedProcess[str]]


def test_shows_metrics_config_and_environment(cli: Cli) -> None:
    out = cli("show", "lr 0.01").stdout
    assert "finished" in out.splitlines()[0]
    metric = next(line for line in out.splitlines() if line.startswith("loss"))
    assert metric.split()[1:7] == ["0.03", "0.03", "49", "1.01", "0.09998", "50"]
    assert "depth  3" in out
    assert "python" in out


def test_a_failed_run_shows_its_traceback_first(cli: Cli) -> None:
    out = cli("show", "last").stdout
    assert out.index("ValueError: boom") < out.index("metric")
    assert "1 not finite" in out


def test_a_long_value_is_cut(cli: Cli) -> None:
    prompt = next(line for line in cli("show", "last").stdout.splitlines() if line.startswith("prompt"))
    assert len(prompt) < 300
    assert "word ... (500 characters)" in prompt


def test_json_has_everything(cli: Cli) -> None:
    shown = json.loads(cli("show", "lr 0.1", "--json").stdout)
    assert shown["config"] == {"lr": 0.1, "depth": 3}
    assert shown["metrics"]["val/acc"]["max"] == 0.98
    assert shown["status"] == "finished"


def test_an_unknown_run_names_what_there_is(cli: Cli) -> None:
    failed = cli("show", "lr 0.02", check=False)
    assert failed.returncode == 3
    assert "lr 0.01" in failed.stderr


def test_a_missing_store_is_not_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no folder"):
        CliRunner().invoke(commands, ["show", "--dir", str(tmp_path / "no")], catch_exceptions=False)


def test_ranks_are_no_attempts(store: Path) -> None:
    path = new_run(store)
    for rank in range(2):
        writer = quiet_writer(path, rank=rank)
        writer.keyset(("loss", "bad")).write(0, (1.0, math.nan))
        writer.close(End(time=time.time(), status="finished"))
    out = CliRunner().invoke(commands, ["show", "--dir", str(store)], catch_exceptions=False).output
    assert "2 ranks" in out
    assert "2 attempts" not in out
    one = CliRunner().invoke(commands, ["show", "--dir", str(store), "--rank", "1"], catch_exceptions=False).output
    assert "metric of rank 1" in one
    bad = next(line for line in out.splitlines() if line.startswith("bad"))
    assert bad.split()[1:7] == ["NaN", "-", "-", "-", "-", "1"]


def test_findings_are_shown_as_they_were_told_the_gravest_first(store: Path) -> None:
    path = new_run(store)
    writer = quiet_writer(path)
    source = [(87, "loss = f(x)"), (88, "loss.backward()")]
    told = [
        Finding(rule="repro.no-seed", severity="info", message="no seed", file="a.py", line=3),
        Finding(rule="opt.x", severity="error", message="it \x1b[31mpiles up", file="gone.py", line=88, source=source),
    ]
    for finding in told:
        writer.event(FindingEvent(time=time.time(), finding=finding))
    writer.close(End(time=time.time(), status="finished"))
    out = CliRunner().invoke(commands, ["show", "--dir", str(store)], catch_exceptions=False).output
    assert (
        "\nfindings\n"
        "error[opt.x]: it piles up\n"
        "  --> gone.py:88\n"
        "   |\n"
        "87 | loss = f(x)\n"
        "88 | loss.backward()\n"
        "   | ^^^^^^^^^^^^^^^\n"
        "   = more: stepscope explain opt.x\n"
        "\n"
        "info[repro.no-seed]: no seed (a.py:3)\n"
    ) in out


def test_the_metrics_of_one_rank(store: Path) -> None:
    path = new_run(store)
    for rank in (0, 1):
        writer = quiet_writer(path, rank=rank)
        writer.keyset(("loss",)).write(0, (rank + 0.5,))
        writer.close(End(time=time.time(), status="finished"))
    words = ["show", path.name, "--dir", str(store), "--rank"]
    out = CliRunner().invoke(commands, [*words, "1"]).output
    assert next(line for line in out.splitlines() if line.startswith("loss")).split()[1] == "1.5"
    assert isinstance(CliRunner().invoke(commands, [*words, "7"]).exception, SystemExit | NotFound)
