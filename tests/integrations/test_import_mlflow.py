"""What the real MLflow stored, in files and in SQLite, comes in with every value equal to what MLflow itself reads."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.integrations.imported import bring, python

from stepscope.importers.import_writer import Landed
from stepscope.runs.read.folder import RunFolder

SCRIPT = """
import json, math, sys, warnings
warnings.simplefilter("ignore")
import numpy as np, mlflow
from mlflow import MlflowClient
from mlflow.entities import Metric, Param, RunTag

def write(uri):
    mlflow.set_tracking_uri(uri)
    mlflow.set_experiment("Ziffern é")
    picture = np.arange(8 * 9 * 3, dtype=np.uint8).reshape(8, 9, 3)
    with mlflow.start_run(run_name="parent", tags={"team": "a", "done": ""}, description="# notes") as run:
        mlflow.log_params({"lr": 0.1, "depth": 3, "name": "adam", "flag": True, "empty": "", "eps": 1e-8})
        for i in range(7):
            mlflow.log_metric("loss", math.sin(i) * 10 ** (i - 3), step=i)
        points = [Metric("val/acc", i / 7, 1_600_000_000_000 + 1000 * i, 100 - i) for i in range(50)]
        points += [Metric("big", float(2**60), 1_600_000_000_000, 0), Metric("odd", math.nan, 1_600_000_000_000, 1)]
        points += [Metric("odd", math.inf, 1_600_000_000_001, 2), Metric("odd", -math.inf, 1_600_000_000_002, 3)]
        points += [Metric("again", 1.0, 1_600_000_000_000, 5), Metric("again", 2.0, 1_600_000_000_001, 5)]
        MlflowClient().log_batch(run.info.run_id, metrics=points, params=[Param("more/deep", "x")], tags=[])
        mlflow.log_text("some words", "notes/a.txt")
        mlflow.log_dict({"a": 1}, "d.json")
        mlflow.log_image(picture, key="samples/one", step=3)
        mlflow.log_image(picture, "plain.png")
        mlflow.log_table({"a": [1, 2], "b": ["x", "y"]}, artifact_file="t.json")
        with mlflow.start_run(nested=True, run_name="child"):
            mlflow.log_metric("x", 1)
    try:
        with mlflow.start_run(run_name="broken"):
            raise ValueError
    except ValueError:
        pass
    gone = mlflow.start_run(run_name="gone")
    mlflow.end_run()
    mlflow.delete_run(gone.info.run_id)
    killed = mlflow.start_run(run_name="stopped")
    mlflow.end_run("KILLED")
    return truth()

def truth():
    found = {}
    for run in mlflow.search_runs(search_all_experiments=True, output_format="list"):
        history = {key: MlflowClient().get_metric_history(run.info.run_id, key) for key in run.data.metrics}
        found[run.info.run_name] = {
            "status": run.info.status, "start": run.info.start_time, "params": run.data.params,
            "metrics": {key: [[p.timestamp, p.value, p.step] for p in points] for key, points in history.items()},
        }
    return found

print(json.dumps([write(uri) for uri in sys.argv[1:]]))
"""


@dataclass
class Written:
    runs: dict[str, RunFolder]
    landed: Landed
    truth: dict[str, Any]
    folder: Path


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Written]:
    folder = tmp_path_factory.mktemp("mlflow")
    stores = {"folder": folder / "files" / "mlruns", "database": folder / "base" / "mlflow.db"}
    (folder / "base").mkdir()
    uris = (f"file:{stores['folder']}", f"sqlite:///{stores['database']}")
    out = python(SCRIPT, *uris, cwd=folder / "base", MLFLOW_ALLOW_FILE_STORE="true")
    truths = json.loads([line for line in out.splitlines() if line.startswith("[{")][-1])
    made = {}
    for (kind, path), truth in zip(stores.items(), truths, strict=True):
        found, landed = bring("mlflow", path.parent, folder / f"store of {kind}")
        made[kind] = Written({run.name: run for run in found}, landed, truth, path.parent)
    return made


@pytest.fixture(params=["folder", "database"])
def written(request: pytest.FixtureRequest, both: dict[str, Written]) -> Written:
    return both[request.param]


def test_every_point_of_every_metric_is_equal(written: Written) -> None:
    assert written.landed.troubles == []
    assert sorted(written.runs) == sorted(written.truth) == ["broken", "child", "parent", "stopped"]
    for name, truth in written.truth.items():
        run = written.runs[name]
        assert sorted(run.metrics()) == sorted(truth["metrics"])
        for key, points in truth["metrics"].items():
            in_order = sorted(points, key=lambda point: point[2])
            series = run.series(key)
            assert series.steps.tolist() == [step for _, _, step in in_order]
            values = np.array([_unbounded(value) for _, value, _ in in_order])
            np.testing.assert_array_equal(series.values, values)
            times = [time / 1000 for time, _, _ in in_order]
            np.testing.assert_allclose(series.times, times, rtol=0, atol=1e-4)
    odd = written.runs["parent"].series("odd").values
    assert [str(value) for value in odd] == ["nan", "inf", "-inf"]


def _unbounded(value: float) -> float:
    """MLflow's own database gives the largest float back where infinity was logged."""
    return float(np.copysign(np.inf, value)) if abs(value) == np.finfo(np.float64).max else value


def test_what_the_runs_are(written: Written) -> None:
    parent = written.runs["parent"]
    assert (parent.project, parent.notes, sorted(parent.tags)) == ("Ziffern é", "# notes", ["done", "team=a"])
    assert parent.config == {
        "lr": 0.1,
        "depth": 3,
        "name": "adam",
        "flag": True,
        "empty": "",
        "eps": 1e-8,
        "more/deep": "x",
    }
    assert parent.created == pytest.approx(written.truth["parent"]["start"] / 1000, abs=1e-3)
    assert written.runs["child"].group == "parent"
    assert {name: run.status for name, run in written.runs.items()} == {
        "parent": "finished",
        "child": "finished",
        "broken": "failed",
        "stopped": "stopped",
    }


def test_files_are_pictures_tables_and_texts(written: Written) -> None:
    parent = written.runs["parent"]
    assert parent.media_keys() == {
        "samples/one": "image",
        "plain.png": "image",
        "notes/a.txt": "text",
        "t.json": "table",
        "d.json": "file",
    }
    (picture,) = parent.media("samples/one")
    assert (picture.step, picture.meta["width"], picture.meta["height"]) == (3, 9, 8)
    assert json.loads(parent.media_bytes(parent.media("t.json")[0])) == {
        "columns": ["a", "b"],
        "rows": [[1, "x"], [2, "y"]],
    }


def test_a_second_look_brings_only_what_is_new(both: dict[str, Written], tmp_path: Path) -> None:
    folder = both["database"].folder
    (_first, *_), landed = bring("mlflow", folder, tmp_path / "store")
    assert landed.points > 60
    with sqlite3.connect(folder / "mlflow.db") as database:
        (number,) = database.execute("SELECT run_uuid FROM runs WHERE name = 'child'").fetchone()
        row = ("x", 7.5, 1_700_000_000_000, number, 9, 0)
        database.execute("INSERT INTO metrics(key, value, timestamp, run_uuid, step, is_nan) VALUES (?,?,?,?,?,?)", row)
        database.execute("INSERT INTO params VALUES ('late', '3', ?)", (number,))
    found, again = bring("mlflow", folder, tmp_path / "store")
    child = {run.name: run for run in found}["child"]
    assert (again.points, again.media, again.new_runs) == (1, 0, 0)
    assert child.series("x").values.tolist() == [1.0, 7.5]
    assert child.config == {"late": 3}
