"""fastai with the real package: the learner's boundaries under `stepscope run`, and the callback."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import TensorDataset

from stepscope.profile.profile import Profile
from stepscope.runs.catalogue.run_list import runs
from stepscope.runs.read.folder import RunFolder

with warnings.catch_warnings():  # fastai imports what torch is about to leave out
    warnings.simplefilter("ignore")
    from fastai.basics import DataLoader, DataLoaders, Learner, set_seed
    from fastai.callback.schedule import *  # noqa: F403  (adds fit_one_cycle and lr_find to Learner)
    from fastai.metrics import accuracy

    from stepscope.integrations.fastai import StepscopeCallback

_spec = importlib.util.spec_from_file_location("integrations_forked", Path(__file__).parent / "forked.py")
assert _spec is not None
assert _spec.loader is not None
forked: Any = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(forked)

pytestmark = [pytest.mark.filterwarnings("ignore::UserWarning"), pytest.mark.filterwarnings("ignore::FutureWarning")]

SCRIPT = """
import torch
from fastai.basics import *
from fastai.callback.schedule import *
from fastai.metrics import accuracy
from torch import nn
from torch.utils.data import TensorDataset

set_seed(0)
x = torch.randn(512, 20)
y = (x @ torch.randn(20, 4)).argmax(1)
train, val = TensorDataset(x[:384], y[:384]), TensorDataset(x[384:], y[384:])
dls = DataLoaders(DataLoader(train, bs=32, shuffle=True), DataLoader(val, bs=32))
model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 4), LAST)
learn = Learner(dls, model, loss_func=nn.CrossEntropyLoss(), metrics=accuracy)
with learn.no_bar():
    learn.lr_find(show_plot=False, num_it=20)
    learn.fit_one_cycle(3, 1e-2)
print("TOLD", sum(float(p.detach().double().sum()) for p in model.parameters()), list(learn.recorder.values[-1]))
"""


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STEPSCOPE_DIR", str(tmp_path / "runs"))
    monkeypatch.setenv("STEPSCOPE_QUIET", "1")
    monkeypatch.chdir(tmp_path)
    torch.set_num_threads(1)


def only(tmp_path: Path) -> RunFolder:
    (run,) = runs(tmp_path / "runs")
    return run


def series(run: RunFolder, name: str) -> tuple[list[int], list[float]]:
    found = run.series(name)
    return [int(step) for step in found.steps], [float(value) for value in found.values]


def test_a_learners_boundaries_are_those_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT.replace("LAST", "nn.Identity()"))
    alone, watched = forked.plain(tmp_path, "train.py"), forked.stepscope(tmp_path, "run", "train.py")
    assert (alone.code, watched.code) == (0, 0), watched.text
    assert watched.line("TOLD") == alone.line("TOLD")
    run = only(tmp_path)
    assert [one.rule for one in run.findings if one.severity != "info"] == []
    assert run.faults == []
    train_loss, valid_loss, right = map(float, alone.line("TOLD").split("[")[1].strip("]").split(","))
    assert series(run, "valid_loss")[0] == [11, 23, 35], "the search for a learning rate is no training"
    last = [series(run, name)[1][-1] for name in ("train_loss", "valid_loss", "accuracy")]
    assert last == [train_loss, valid_loss, right]
    assert series(run, "train/loss")[0] == list(range(36)), "steps of fastai's own optimizer are seen"
    assert (run.config["loss"], run.config["epochs"]) == ("CrossEntropyLoss", 3)
    parts = Profile.load(run.path / "profiles" / "simple").phases(0)
    assert parts is not None
    assert parts.steps == list(range(36))


def test_a_bug_in_the_model_is_found(tmp_path: Path) -> None:
    source = SCRIPT.replace("LAST", "nn.Softmax(1)")
    (tmp_path / "train.py").write_text(source)
    assert forked.stepscope(tmp_path, "run", "train.py").code == 0
    (found,) = [one for one in only(tmp_path).findings if one.severity != "info"]
    assert found.rule == "loss.softmax-before-ce"
    assert "nn.Softmax(1)" in source.splitlines()[int(str(found.line)) - 1]


def fitted(*callbacks: Any, last: nn.Module | None = None) -> Learner:
    set_seed(0)
    x = torch.randn(160, 6)
    y = (x[:, 0] > 0).long()
    train, val = TensorDataset(x[:128], y[:128]), TensorDataset(x[128:], y[128:])
    dls = DataLoaders(DataLoader(train, bs=16, shuffle=True), DataLoader(val, bs=16))
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2), *([] if last is None else [last]))
    learn = Learner(dls, model, loss_func=nn.CrossEntropyLoss(), metrics=accuracy, cbs=list(callbacks))
    with learn.no_bar(), learn.no_logging():
        learn.fit_one_cycle(2, 0.02)
    return learn


def test_the_callback_keeps_what_the_recorder_says_and_changes_nothing(tmp_path: Path) -> None:
    alone = fitted()
    callback = StepscopeCallback("demo", "first", tags="a", config={"seed": 0})
    learn = fitted(callback)
    assert [float(p.double().sum()) for p in learn.model.parameters()] == [
        float(p.double().sum()) for p in alone.model.parameters()
    ]
    assert callback.findings == []
    assert callback.tracked is not None
    callback.tracked.finish()
    run = only(tmp_path)
    assert (run.project, run.name, run.tags, run.config["seed"]) == ("demo", "first", ["a"], 0)
    steps, smooth = series(run, "train_loss")
    assert steps == list(range(16))
    assert smooth == pytest.approx([float(one) for one in learn.recorder.losses])
    assert series(run, "lr_0")[1] == pytest.approx(learn.recorder.lrs)
    assert series(run, "valid_loss") == ([7, 15], [row[1] for row in learn.recorder.values])
    assert series(run, "accuracy")[1] == [row[2] for row in learn.recorder.values]
    assert series(run, "watched/train/loss")[1] == pytest.approx(series(run, "raw_loss")[1])


def test_the_callback_finds_bugs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    callback = StepscopeCallback("demo")
    fitted(callback, last=nn.Softmax(1))
    assert [one.rule for one in callback.findings if one.severity != "info"] == ["loss.softmax-before-ce"]
    assert "softmax is applied here" in capfd.readouterr().err
