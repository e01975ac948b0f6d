from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from click.testing import CliRunner

from stepscope.cli.main import commands

Cli = Callable[..., CompletedProcess[str]]


def test_lists_status_differing_config_and_best_values(cli: Cli) -> None:
    lines = cli("runs").stdout.splitlines()
    assert lines[0].split() == ["run", "status", "age", "time", "lr", "loss.last", "loss.min", "loss"]
    assert [line.split()[2 if line.startswith("lr") else 1] for line in lines[1:4]].count("finished") == 2
    assert any("failed" in line for line in lines)
    assert "depth" not in lines[0], "a value that is the same in all runs needs no column"


def test_a_query_filters_and_sorts(cli: Cli) -> None:
    out = cli("runs", "loss.min < 0.5 and status = finished", "--sort", "loss.min", "--ascending").stdout
    assert [line[:7].strip() for line in out.splitlines()[1:]] == ["lr 0.01", "lr 0.1"]


def test_json_is_valid_even_with_nan(cli: Cli) -> None:
    runs = json.loads(cli("runs", "--json").stdout)
    assert len(runs) == 3
    failed = next(run for run in runs if run["status"] == "failed")
    assert failed["metrics"]["loss"]["last"] == "NaN"
    assert failed["metrics"]["loss"]["min"] == 1.0


def test_escape_sequences_in_names_never_reach_the_terminal(cli: Cli) -> None:
    for args in (["runs"], ["show", "gan/"], ["tail", "--once"]):
        out = cli(*args, check=False)
        assert "\x1b" not in out.stdout + out.stderr
        assert "\x07" not in out.stdout + out.stderr


def test_an_error_in_the_query_points_at_the_character(cli: Cli) -> None:
    failed = cli("runs", "config.lr >< 3", check=False)
    assert failed.returncode == 2
    lines = failed.stderr.splitlines()
    assert lines[0].startswith("error: ")
    assert lines[2].index("^") - 2 == "config.lr >< 3".index("<")


def test_no_match_says_how_many_there_are(cli: Cli, small_store: Path) -> None:
    assert "has 3 runs" in cli("runs", "loss.min < -1").stdout


def test_an_empty_store_teaches(tmp_path: Path) -> None:
    out = CliRunner().invoke(commands, ["runs", "--dir", str(tmp_path)])
    assert "stepscope.init(" in out.output


def test_a_missing_store_says_what_to_do(tmp_path: Path) -> None:
    from stepscope.errors import NotFound

    with pytest.raises(NotFound, match="--dir"):
        CliRunner().invoke(commands, ["runs", "--dir", str(tmp_path / "no")], catch_exceptions=False)


def test_an_unknown_command_suggests_the_near_one(cli: Cli) -> None:
    failed = cli("rnus", check=False)
    assert failed.returncode == 2
    assert "did you mean 'runs'" in failed.stderr


def test_a_mistyped_sort_key_or_column_is_no_silence(cli: Cli) -> None:
    for args in (["--sort", "lss.min"], ["-c", "config.lrr"]):
        failed = cli("runs", *args, check=False)
        assert failed.returncode == 2
        assert "did you mean" in failed.stderr
