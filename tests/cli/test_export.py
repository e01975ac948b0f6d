from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

Cli = Callable[..., CompletedProcess[str]]


def test_csv_on_standard_output_has_every_point(cli: Cli) -> None:
    lines = cli("export", "lr 0.1", "loss").stdout.splitlines()
    assert lines[0] == "step,time,loss"
    assert len(lines) == 51
    assert float(lines[-1].split(",")[2]) == 1 / 50 + 0.1


def test_formulas_are_defused_in_csv(cli: Cli) -> None:
    assert "'=cmd" in cli("export", "last").stdout.splitlines()[0]


def test_the_ending_chooses_the_format(cli: Cli, tmp_path: Path) -> None:
    for name in ("run.json", "run.jsonl", "run.csv", "run.parquet"):
        cli("export", "lr 0.1", "-o", str(tmp_path / name))
    assert json.loads((tmp_path / "run.json").read_text())["config"]["lr"] == 0.1
    import pyarrow.parquet

    assert pyarrow.parquet.read_table(tmp_path / "run.parquet").num_rows == 100


def test_an_unknown_ending_names_the_formats(cli: Cli, tmp_path: Path) -> None:
    failed = cli("export", "lr 0.1", "-o", str(tmp_path / "run.xlsx"), check=False)
    assert failed.returncode == 2
    assert "csv, json, jsonl or parquet" in failed.stderr


def test_an_unknown_series_names_what_there_is(cli: Cli) -> None:
    failed = cli("export", "lr 0.1", "lss", check=False)
    assert failed.returncode == 3
    assert "loss" in failed.stderr
