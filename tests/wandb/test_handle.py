from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import stepscope


def test_alerts_have_a_level_and_a_waiting_time(wandb: ModuleType, last: Callable[[], Any]) -> None:
    with wandb.init(project="p") as run:
        run.alert("low", "text", level=wandb.AlertLevel.WARN)
        run.alert("low", "again")
        run.alert("low", "at once", level="ERROR", wait_duration=0)
        run.alert("other", "x", level="odd", wait_duration=timedelta(minutes=5))
    assert [(each.title, each.text, each.level) for each in last().alerts] == [
        ("low", "text", "warning"),
        ("low", "at once", "error"),
        ("other", "x", "info"),
    ]


def test_names_notes_and_tags_can_change(wandb: ModuleType, last: Callable[[], Any]) -> None:
    with wandb.init(project="p", tags=["a"], job_type="train") as run:
        run.name, run.notes = "new", "why"
        run.tags += ("b",)
        assert (run.tags, run.job_type, run.url, run.offline, run.resumed) == (("a", "b"), "train", None, True, False)
        assert run.save() is True
    assert (last().name, last().notes, sorted(last().tags)) == ("new", "why", ["a", "b", "job_type:train"])


def test_the_config_can_be_copied_and_sent(wandb: ModuleType) -> None:
    wandb.init(project="p", config={"lr": 0.1, "opt": {"name": "sgd"}})
    for other in (copy.deepcopy(wandb.config), pickle.loads(pickle.dumps(wandb.config))):
        assert (other.lr, other.opt["name"], {**other}) == (0.1, "sgd", dict(wandb.config))
        other.new = 1
    assert "new" not in wandb.config


def test_a_summary_of_everything(wandb: ModuleType, last: Callable[[], Any]) -> None:
    run = wandb.init(project="p")
    run.log({"a": 1, "image": wandb.Image([[0, 1]]), "list": [1, 2], "text": "x", "n": {"b": {"c": 2}}})
    assert dict(run.summary) == {
        "a": 1, "image": {"_type": "image"}, "list": [1, 2], "text": "x", "n.b.c": 2,
    }  # fmt: skip
    assert run.summary.n["b"] == {"c": 2}
    run.summary.best = 0.5
    run.summary["picture"] = wandb.Image([[1, 0]])
    del run.summary["text"]
    with pytest.raises(AttributeError, match=r"wandb\.summary has no 'nothing'; it has a"):
        _ = run.summary.nothing
    run.finish()
    assert (last().summary["best"], last().summary["a"]) == (0.5, 1.0)
    assert len(last().media("picture")) == 1


def test_metrics_that_make_no_sense_are_named(wandb: ModuleType) -> None:
    run = wandb.init(project="p")
    for wrong, words in (
        ({"name": "a*b"}, "only allowed at the end"),
        ({"name": ""}, "takes the name"),
        ({"name": "a", "summary": "median"}, "'median' is not known"),
        ({"name": "a", "goal": "up"}, "'minimize' or 'maximize'"),
        ({"name": "a", "step_metric": 3}, "name of a metric"),
    ):
        with pytest.raises(wandb.Error, match=words):
            run.define_metric(**wrong)


def test_rules_reach_the_run(wandb: ModuleType, last: Callable[[], Any]) -> None:
    with wandb.init(project="p") as run:
        run.define_metric("loss", summary="best", goal="minimize", step_metric=run.define_metric("epoch"))
        for epoch, loss in enumerate([3.0, 1.0, 2.0]):
            run.log({"loss": loss, "epoch": epoch})
    rule = last().rules[-1]
    assert (rule.name, rule.summary, rule.x, rule.goal) == ("loss", "min", "epoch", "min")
    assert last().summary["loss"] == 1.0


def test_under_the_launcher_there_is_one_run(wandb: ModuleType, store: Path, tmp_path: Path) -> None:
    """The script's values and the launcher's stand in one folder."""
    (tmp_path / "train.py").write_text(
        "import torch\n"
        "import stepscope.wandb as wandb\n"
        "wandb.init(project='p', name='launched')\n"
        "net = torch.nn.Linear(2, 1)\n"
        "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "for _ in range(5):\n"
        "    loss = net(torch.randn(4, 2)).pow(2).mean()\n"
        "    optimizer.zero_grad()\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
        "    wandb.log({'loss': loss})\n"
    )
    environment = {**os.environ, "STEPSCOPE_DIR": str(store), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "stepscope", "run", "train.py"]
    subprocess.run(command, env=environment, cwd=tmp_path, check=True, capture_output=True)
    [run] = stepscope.runs(store)
    assert (run.name, run.project, run.status) == ("launched", "p", "finished")
    assert len(run.series("loss").values) == 5
    assert run.series("watched/train/loss").values.tolist() == pytest.approx(run.series("loss").values.tolist())
