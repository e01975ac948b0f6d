"""An unmodified MLflow script under `stepscope run`: what MLflow stored is what we kept."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import pytest
from tests.integrations.imported import bring, command

from stepscope.runs.catalogue.run_list import runs
from stepscope.runs.read.folder import RunFolder

SCRIPT = """
import os, warnings
warnings.simplefilter("ignore")
import numpy as np, mlflow
from matplotlib.figure import Figure
from mlflow import MlflowClient
from mlflow.entities import Metric, Param
mlflow.set_tracking_uri("file:" + os.getcwd() + "/mlruns")
mlflow.set_experiment("e")
with mlflow.start_run(run_name="parent") as run:
    mlflow.log_params({"lr": 0.1, "name": "adam"})
    mlflow.log_param("size", 4)
    mlflow.set_tag("team", "a")
    mlflow.set_tags({"more": "b"})
    for i in range(5):
        mlflow.log_metric("loss", 1 / (i + 1), step=i)
        mlflow.log_metrics({"a": i, "b": -i / 3}, step=2 * i)
    client = MlflowClient()
    points = [Metric("batch", value, 1, step) for step, value in enumerate((1.0, 2.0, 3.0))]
    client.log_batch(run.info.run_id, metrics=points, params=[Param("deep", "x")])
    client.log_metric(run.info.run_id, "client", 3.0, step=4)
    mlflow.log_metric("later", 7.0, step=1, synchronous=False)
    mlflow.flush_async_logging()
    mlflow.log_figure(Figure(), "figure.png")
    mlflow.log_image(np.arange(8 * 9 * 3, dtype=np.uint8).reshape(8, 9, 3), key="image", step=2)
    mlflow.log_text("words", "notes.txt")
    mlflow.log_dict({"a": 1}, "d.json")
    mlflow.log_table({"a": [1, 2]}, artifact_file="t.json")
    open("weights.bin", "wb").write(b"123")
    mlflow.log_artifact("weights.bin")
    with mlflow.start_run(nested=True, run_name="child"):
        mlflow.log_metric("loss", 9.0, step=0)
"""


@dataclass
class Heard:
    run: RunFolder
    stored: dict[str, RunFolder]


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Heard:
    folder = tmp_path_factory.mktemp("mlflow")
    (folder / "script.py").write_text(SCRIPT)
    surroundings = {"STEPSCOPE_DIR": str(folder / "store"), "MLFLOW_ALLOW_FILE_STORE": "true"}
    command(sys.executable, "-m", "stepscope", "run", "script.py", cwd=folder, **surroundings)
    (run,) = runs(folder / "store")
    stored, landed = bring("mlflow", folder / "mlruns", folder / "imported")
    assert landed.troubles == []
    return Heard(run, {one.name: one for one in stored})


def test_every_metric_is_what_mlflow_stored(heard: Heard) -> None:
    parent = heard.stored["parent"]
    assert sorted(parent.metrics()) == ["a", "b", "batch", "client", "later", "loss"]
    for name in parent.metrics():
        ours, truth = heard.run.series(name), parent.series(name)
        assert ours.steps.tolist() == truth.steps.tolist(), name
        np.testing.assert_array_equal(ours.values, truth.values, err_msg=name)
    assert heard.run.series("child/loss").values.tolist() == heard.stored["child"].series("loss").values.tolist()


def test_params_tags_and_files(heard: Heard) -> None:
    parent, run = heard.stored["parent"], heard.run
    assert {name: run.config[name] for name in parent.config} == parent.config
    assert parent.config == {"lr": 0.1, "name": "adam", "size": 4, "deep": "x"}
    assert sorted(run.tags) == sorted(parent.tags) == ["more=b", "team=a"]
    assert run.media_keys() == {
        "figure.png": "figure",
        "image": "image",
        "notes.txt": "text",
        "d.json": "text",
        "t.json": "table",
    }
    assert run.media("image")[0].step == 2
    assert [(one.name, one.files[0].size) for one in run.artifacts] == [("weights.bin", 3)]
    assert (run.faults, run.dropped) == ([], 0)
