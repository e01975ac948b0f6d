"""An unmodified W&B script under `stepscope run`: what W&B stored is what we kept, online, offline or switched off."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from tests.integrations.imported import bring, command

from stepscope.runs.catalogue.run_list import runs
from stepscope.runs.read.folder import RunFolder

SCRIPT = """
import numpy as np, torch, wandb
torch.manual_seed(0)
run = wandb.init(project="p", name="one", config={"lr": 0.1, "model": {"depth": 3}})
wandb.define_metric("val.*", step_metric="epoch", summary="min")
model = torch.nn.Linear(3, 1)
wandb.watch(model, log="all", log_freq=1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(5):
    loss = model(torch.ones(4, 3)).square().mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    wandb.log({"loss": loss, "val": {"acc": 1 / (i + 1)}, "epoch": i, "train/loss": loss.item()})
rng = np.random.default_rng(0)
picture = rng.integers(0, 255, (8, 9, 3), dtype=np.uint8)
run.log({
    "image": wandb.Image(picture, caption="noise"), "images": [wandb.Image(picture), wandb.Image(picture)],
    "histogram": wandb.Histogram(rng.normal(size=50)), "table": wandb.Table(columns=["a", "b"], data=[[1, "x"]]),
    "page": wandb.Html("<b>x</b>"), "line": wandb.plot.line_series([1, 2], [[1, 2]], ["k"]), "word": "words",
}, commit=False)
run.log({"flag": True})
wandb.config.update({"late": 5})
run.config["lr"] = 0.2 if False else 0.1
wandb.run.summary["best"] = 0.9
wandb.summary.update({"by": {"hand": 2}})
wandb.alert("careful", "it grows", level=wandb.AlertLevel.WARN)
open("weights.txt", "w").write("1 2 3")
artifact = wandb.Artifact("model", "model")
artifact.add_file("weights.txt")
wandb.log_artifact(artifact)
wandb.log({"a": 1}, step=20)
wandb.log({"b": 2})
wandb.finish()
print("weights", [float(w) for w in model.weight.flatten()])
"""


@dataclass
class Heard:
    run: RunFolder
    said: str


def _heard(folder: Path, mode: str) -> Heard:
    (folder / "script.py").write_text(SCRIPT)
    line = (sys.executable, "-m", "stepscope", "run", "script.py")
    said = command(*line, cwd=folder, STEPSCOPE_DIR=str(folder / "store"), WANDB_MODE=mode)
    (run,) = runs(folder / "store")
    return Heard(run, next(line for line in said.splitlines() if line.startswith("weights")))


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> tuple[Heard, RunFolder]:
    folder = tmp_path_factory.mktemp("offline")
    heard = _heard(folder, "offline")
    (stored,), landed = bring("wandb", folder, folder / "imported")
    assert landed.troubles == []
    return heard, stored


@pytest.fixture(scope="module")
def disabled(tmp_path_factory: pytest.TempPathFactory) -> Heard:
    return _heard(tmp_path_factory.mktemp("disabled"), "disabled")


def _named(name: str) -> str:
    return f"wandb/{name}" if name.startswith("train/") else name


def test_every_value_is_what_wandb_stored(offline: tuple[Heard, RunFolder]) -> None:
    heard, stored = offline
    theirs = [name for name in stored.metrics() if not name.startswith("system/")]
    assert set(theirs) == {"loss", "val.acc", "epoch", "train/loss", "flag", "a", "b"}
    for name in theirs:
        ours, truth = heard.run.series(_named(name)), stored.series(name)
        assert ours.steps.tolist() == truth.steps.tolist(), name
        np.testing.assert_array_equal(ours.values, truth.values, err_msg=name)
    ours_kinds, kinds = heard.run.media_keys(), stored.media_keys()
    assert {name: ours_kinds.get(name) for name in kinds} == kinds
    for name in ("image", "images", "histogram", "table", "page", "word", "parameters/weight", "gradients/weight"):
        mine, original = heard.run.media(name), stored.media(name)
        assert [item.step for item in mine] == [item.step for item in original], name
        assert [heard.run.media_bytes(item) for item in mine] == [stored.media_bytes(item) for item in original], name


def test_settings_summary_alerts_and_artifacts(offline: tuple[Heard, RunFolder]) -> None:
    heard, stored = offline
    run = heard.run
    assert {name: run.config[name] for name in stored.config} == stored.config
    assert (run.summary["best"], run.summary["by.hand"], run.summary["val.acc"]) == (0.9, 2, 0.2)
    assert [(alert.title, alert.level) for alert in run.alerts] == [("careful", "warning")]
    assert [(one.name, one.type, one.files[0].path) for one in run.artifacts] == [("model", "model", "weights.txt")]
    assert (run.faults, run.dropped) == ([], 0)


def test_a_disabled_wandb_is_heard_all_the_same(disabled: Heard, offline: tuple[Heard, RunFolder]) -> None:
    heard, _ = offline
    assert disabled.said == heard.said
    for name in ("loss", "val.acc", "epoch", "wandb/train/loss", "a", "b"):
        assert disabled.run.series(name).values.tolist() == heard.run.series(name).values.tolist()
    kinds = disabled.run.media_keys()
    assert [kinds[name] for name in ("image", "histogram", "table", "page")] == ["image", "histogram", "table", "html"]
    assert disabled.run.config["late"] == 5
    assert disabled.run.faults == []


def test_the_training_is_as_without_us(offline: tuple[Heard, RunFolder], tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    plain = command(sys.executable, "script.py", cwd=tmp_path, WANDB_MODE="disabled")
    assert offline[0].said in plain.splitlines()
