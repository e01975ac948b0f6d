"""Ignite with the real package: engines' boundaries under `stepscope run`, and the logger with its handlers."""

from __future__ import annotations

import ast
import importlib.util
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import stepscope
from stepscope.errors import UsageError
from stepscope.profile.profile import Profile
from stepscope.runs.catalogue.run_list import runs
from stepscope.runs.read.folder import RunFolder

with warnings.catch_warnings():  # ignite imports what torch is about to leave out
    warnings.simplefilter("ignore")
    from ignite.engine import Engine, Events
    from ignite.handlers import global_step_from_engine

    from stepscope.integrations.ignite import (
        GradsHistHandler,
        GradsScalarHandler,
        OptimizerParamsHandler,
        StepscopeLogger,
        WeightsHistHandler,
        WeightsScalarHandler,
    )

HERE = Path(__file__).parent
_spec = importlib.util.spec_from_file_location("integrations_forked", HERE / "forked.py")
assert _spec is not None
assert _spec.loader is not None
forked: Any = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(forked)

SCRIPT = """
import sys
sys.modules.pop("stepscope.integrations.ignite", None)  # this process has imported it; the script would not have
import torch
import torch.nn.functional as F
from ignite.engine import Engine, Events, create_supervised_evaluator
from ignite.metrics import Accuracy, Loss, RunningAverage
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(512, 20)
y = (x @ torch.randn(20, 4)).argmax(1)
train = DataLoader(TensorDataset(x[:384], y[:384]), 32, shuffle=True)
val = DataLoader(TensorDataset(x[384:], y[384:]), 32)
model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 4))
opt = torch.optim.Adam(model.parameters(), 1e-2)


def train_step(engine, batch):
    model.train()
    opt.zero_grad()
    scores = model(batch[0])
    loss = F.cross_entropy(LOSS_INPUT, batch[1])
    loss.backward()
    opt.step()
    return loss.item()


trainer = Engine(train_step)
val_evaluator = create_supervised_evaluator(model, metrics={"accuracy": Accuracy(), "nll": Loss(F.cross_entropy)})
RunningAverage(output_transform=lambda loss: loss).attach(trainer, "loss")
trainer.add_event_handler(Events.EPOCH_COMPLETED, lambda: val_evaluator.run(val))
trainer.run(train, max_epochs=3)
print("TOLD", sum(float(p.detach().double().sum()) for p in model.parameters()), val_evaluator.state.metrics)
"""


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STEPSCOPE_DIR", str(tmp_path / "runs"))
    monkeypatch.setenv("STEPSCOPE_QUIET", "1")
    torch.set_num_threads(1)


def only(tmp_path: Path) -> RunFolder:
    (run,) = runs(tmp_path / "runs")
    return run


def series(run: RunFolder, name: str) -> tuple[list[int], list[float]]:
    found = run.series(name)
    return [int(step) for step in found.steps], [float(value) for value in found.values]


def test_an_engines_boundaries_are_those_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT.replace("LOSS_INPUT", "scores"))
    alone, watched = forked.plain(tmp_path, "train.py"), forked.stepscope(tmp_path, "run", "train.py")
    assert (alone.code, watched.code) == (0, 0), watched.text
    assert watched.line("TOLD") == alone.line("TOLD")
    run = only(tmp_path)
    assert [one.rule for one in run.findings if one.severity != "info"] == []
    assert run.faults == []
    metrics = ast.literal_eval(alone.line("TOLD").split(maxsplit=2)[2])
    for name in ("accuracy", "nll"):
        steps, values = series(run, f"val_evaluator/{name}")
        assert (steps, values[-1]) == ([11, 23, 35], metrics[name])
    assert series(run, "trainer/loss")[0] == [11, 23, 35]
    assert series(run, "train/loss")[0] == list(range(36))
    parts = Profile.load(run.path / "profiles" / "simple").phases(0)
    assert parts is not None
    assert parts.steps == list(range(36))


def test_a_bug_in_a_process_function_is_found_on_its_line(tmp_path: Path) -> None:
    source = SCRIPT.replace("LOSS_INPUT", "scores.softmax(1)")
    (tmp_path / "train.py").write_text(source)
    assert forked.stepscope(tmp_path, "run", "train.py").code == 0
    (found,) = [one for one in only(tmp_path).findings if one.severity != "info"]
    assert found.rule == "loss.softmax-before-ce"
    assert "scores.softmax(1)" in source.splitlines()[int(str(found.line)) - 1]


# -- the logger -----------------------------------------------------------------------------------------------------


def made() -> tuple[Engine, Engine, nn.Module, torch.optim.Optimizer, DataLoader[Any], list[float]]:
    torch.manual_seed(0)
    model = nn.Linear(4, 2)
    opt = torch.optim.SGD([{"params": [model.weight]}, {"params": [model.bias], "lr": 0.5}], lr=0.1)
    losses: list[float] = []

    def step(engine: Engine, batch: Any) -> float:
        opt.zero_grad()
        loss = F.cross_entropy(model(batch[0]), batch[1])
        loss.backward()
        opt.step()
        losses.append(loss.item())
        return loss.item()

    def evaluate(engine: Engine, batch: Any) -> float:
        with torch.no_grad():
            return F.cross_entropy(model(batch[0]), batch[1]).item()

    x = torch.randn(64, 4)
    loader = DataLoader(TensorDataset(x, (x[:, 0] > 0).long()), 16)
    return Engine(step), Engine(evaluate), model, opt, loader, losses


def test_handlers_log_what_engines_say(tmp_path: Path) -> None:
    trainer, evaluator, model, opt, loader, losses = made()
    with StepscopeLogger("demo", "first", config={"lr": 0.1}) as logger:
        logger.attach_output_handler(
            trainer, Events.ITERATION_COMPLETED(every=2), tag="train", output_transform=lambda loss: {"loss": loss}
        )
        logger.attach_output_handler(
            evaluator,
            Events.ITERATION_COMPLETED,
            tag="val",
            output_transform=lambda loss: {"loss": loss},
            global_step_transform=global_step_from_engine(trainer, Events.ITERATION_COMPLETED),
        )
        logger.attach_opt_params_handler(trainer, Events.EPOCH_COMPLETED, optimizer=opt)
        for handler in (WeightsHistHandler(model), GradsHistHandler(model)):
            logger.attach(trainer, handler, Events.EPOCH_COMPLETED)
        for scalar in (WeightsScalarHandler(model), GradsScalarHandler(model, tag="g", whitelist=["bias"])):
            logger.attach(trainer, scalar, Events.EPOCH_COMPLETED)
        trainer.run(loader, max_epochs=2)
        evaluator.run(loader)
    run = only(tmp_path)
    assert (run.project, run.name, run.config["lr"], run.status) == ("demo", "first", 0.1, "finished")
    assert series(run, "train/loss") == ([2, 4, 6, 8], losses[1::2])
    assert set(series(run, "val/loss")[0]) == {8}
    assert series(run, "lr/group_0") == ([1, 2], [0.1, 0.1])
    assert series(run, "lr/group_1") == ([1, 2], [0.5, 0.5])
    assert series(run, "weights_norm/weight")[1][-1] == pytest.approx(float(model.weight.detach().norm()))
    assert model.bias.grad is not None
    assert series(run, "g/grads_norm/bias")[1][-1] == pytest.approx(float(model.bias.grad.norm()))
    assert {"weights/weight", "weights/bias", "grads/weight", "grads/bias"} <= set(run.media_keys())


def test_a_run_that_is_open_is_used_and_left_open(tmp_path: Path) -> None:
    mine = stepscope.init(project="mine")
    logger = StepscopeLogger("other", config={"lr": 2})
    logger.close()
    assert logger.run is mine
    assert not mine.is_finished
    assert mine.config["lr"] == 2
    assert len(runs(tmp_path / "runs")) == 1


def test_a_handler_at_another_logger_is_refused() -> None:
    trainer, _, _, opt, loader, _ = made()
    trainer.add_event_handler(
        Events.EPOCH_COMPLETED, OptimizerParamsHandler(opt), "not a logger", Events.EPOCH_COMPLETED
    )
    with pytest.raises(UsageError, match=r"attach it with StepscopeLogger\.attach"):
        trainer.run(loader, max_epochs=1)
