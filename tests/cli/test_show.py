from __future__ import annotations

import json
from collections.abc import Callable
from subprocess import CompletedProcess

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


def test_json_has_everything(cli: Cli) -> None:
    shown = json.loads(cli("show", "lr 0.1", "--json").stdout)
    assert shown["config"] == {"lr": 0.1, "depth": 3}
    assert shown["metrics"]["val/acc"]["max"] == 0.98
    assert shown["status"] == "finished"


def test_an_unknown_run_names_what_there_is(cli: Cli) -> None:
    failed = cli("show", "lr 0.02", check=False)
    assert failed.returncode == 3
    assert "lr 0.01" in failed.stderr
