from __future__ import annotations

import json
from collections.abc import Callable
from subprocess import CompletedProcess

Cli = Callable[..., CompletedProcess[str]]


def test_says_what_changed_between_two_runs(cli: Cli) -> None:
    out = cli("compare", "lr 0.01", "lr 0.1").stdout
    assert "lr 0.01 against lr 0.1" in out
    assert "Look first at `lr`" in out
    assert "a learning rate, 10 times as large" in out
    assert "where the curves diverge" in out


def test_hostile_names_and_errors_stay_text(cli: Cli) -> None:
    out = cli("compare", "lr 0.01", "last", "--all").stdout
    assert "\x1b" not in out
    assert "ValueError: boom" in out


def test_metrics_over_groups(cli: Cli) -> None:
    found = json.loads(cli("compare", "-q", "project = vae", "--by", "config.depth", "--metrics", "--json").stdout)
    assert [column["id"] for column in found["compared"]["columns"]] == ["[3]"]
    assert [row["n"] for row in found["rows"]] == [[2], [2]]
    assert "standard deviation" not in cli("compare", "lr 0.01", "lr 0.1", "--metrics").stdout


def test_one_run_is_no_comparison(cli: Cli) -> None:
    failed = cli("compare", "last", check=False)
    assert failed.returncode == 2
    assert "give two runs or more" in failed.stderr
