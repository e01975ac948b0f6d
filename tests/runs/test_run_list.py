"""`stepscope.runs` and `stepscope.run`: lists of runs that are opened when they are looked at."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from stepscope.errors import NotFound
from stepscope.runs.catalogue.run_list import run, runs

from .making import LONG_AGO, make_run


@pytest.fixture
def filled(store: Path) -> Path:
    for number in range(4):
        make_run(
            store,
            f"run-{number}",
            config={"lr": 0.1 * number},
            series={"loss": [1.0, number / 10]} if number else {"other": [math.nan]},
            created=LONG_AGO + number,
        )
    return store


def test_runs_come_newest_first_and_open_when_looked_at(filled: Path) -> None:
    found = runs(filled)
    assert len(found) == 4
    assert [one.name for one in found] == ["run-3", "run-2", "run-1", "run-0"]
    assert found[0].series("loss").values.tolist() == [1.0, 0.3]
    assert [one.name for one in found[1:3]] == ["run-2", "run-1"]
    assert found[-1].name == "run-0"
    with pytest.raises(IndexError):
        found[4]


def test_runs_can_be_narrowed_and_ordered(filled: Path) -> None:
    assert [one.name for one in runs(filled, "loss.min < 0.25")] == ["run-2", "run-1"]
    assert [one.name for one in runs(filled).filter("config.lr > 0.15").sort("loss.min")] == ["run-2", "run-3"]


def test_a_table_has_config_and_metrics(filled: Path) -> None:
    table = runs(filled).to_pandas()
    assert table["name"].tolist() == ["run-3", "run-2", "run-1", "run-0"]
    assert table["config.lr"].tolist() == pytest.approx([0.3, 0.2, 0.1, 0.0])
    assert table["loss.min"].tolist()[:3] == [0.3, 0.2, 0.1]
    assert math.isnan(table["loss.min"][3])


def test_the_list_shows_itself(filled: Path) -> None:
    lines = repr(runs(filled)).splitlines()
    assert lines[0] == "4 runs"
    assert lines[1].endswith("p/run-3")
    assert repr(runs(filled, "name = run-1")).startswith("1 run\n")


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no folder"):
        runs(tmp_path / "nowhere")


def test_one_run_by_its_name(filled: Path) -> None:
    assert run("run-2", dir=filled).config == {"lr": 0.2}
    assert run("last", dir=filled).name == "run-3"


def test_without_a_folder_it_is_where_runs_are_written(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make_run(tmp_path / "stepscope-runs", "here")
    monkeypatch.setenv("STEPSCOPE_DIR", str(filled))
    assert len(runs()) == len(runs(query="")) == 4
    assert run("last").name == "run-3"
    assert [one.name for one in runs("stepscope-runs")] == ["here"]
    assert run("last", "stepscope-runs").name == "here"
    for value in ("", None):
        monkeypatch.setenv("STEPSCOPE_DIR", "") if value == "" else monkeypatch.delenv("STEPSCOPE_DIR")
        assert run("last").name == "here"
    monkeypatch.setenv("STEPSCOPE_DIR", "nowhere")
    with pytest.raises(NotFound, match=r"no folder nowhere \(from STEPSCOPE_DIR\)"):
        runs()
    with pytest.raises(NotFound):
        run("last")
