"""Accelerate: the tracker, and unmodified loops under `stepscope run`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integrations.warm import Done, Warm

import stepscope

LOOP = """\
import json, numpy as np, torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
def train(accelerator):
    x = torch.randn(96, 4)
    data = TensorDataset(x, (x.sum(1) > 0).long())
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 12)
    loader = DataLoader(data, batch_size=8, shuffle=True)
    test = TensorDataset(torch.randn(32, 4), torch.randint(0, 2, (32,)))
    model, optimizer, loader, scheduler, held_out = accelerator.prepare(
        model, optimizer, loader, scheduler, DataLoader(test, batch_size=8))
    logged, step = [], 0
    for epoch in range(2):
        model.train()
        for inputs, labels in loader:
            with accelerator.accumulate(model):
                loss = torch.nn.functional.cross_entropy(model(inputs), labels)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            accelerator.log({"loss": loss, "deep": {"epoch": epoch}}, step=step)
            logged.append(loss.item())
            step += 1
        model.eval()
        with torch.no_grad():
            right = 0
            for inputs, labels in held_out:
                answers, labels = accelerator.gather_for_metrics((model(inputs).argmax(-1), labels))
                right += int((answers == labels).sum())
        accelerator.log({"accuracy": right / 32}, step=step)
    print("losses=" + json.dumps(logged))
    print("weights=" + json.dumps([p.detach().double().sum().item() for p in model.parameters()]))
"""
TRACKED = (
    LOOP
    + """
from stepscope.integrations.accelerate import StepscopeTracker
import accelerate.tracking
tracker = StepscopeTracker("digits", run_name="mine", tags=["a"])
accelerator = Accelerator(cpu=True, log_with=tracker, gradient_accumulation_steps=2)
accelerator.init_trackers("digits", config={"lr": 0.01, "model": {"width": 8}})
train(accelerator)
tracker = accelerator.get_tracker("stepscope")
tracker.log_images({"samples": [np.zeros((4, 4, 3), "uint8"), np.ones((4, 4, 3), "uint8")]}, step=24)
tracker.log_table("errors", columns=["a", "b"], data=[[1, "x"], [2, "y"]], step=24)
print("same=" + json.dumps(accelerator.get_tracker("stepscope", unwrap=True) is stepscope.current()))
accelerator.end_training()
print("open=" + json.dumps(stepscope.current() is not None))
with stepscope.init(name="own") as run:
    accelerator = Accelerator(cpu=True, log_with=StepscopeTracker("ignored"))
    accelerator.init_trackers("ignored")
    accelerator.log({"loss": 1.0}, step=0)
    accelerator.end_training()
    print("left=" + json.dumps(not run.is_finished))
if hasattr(accelerate.tracking, "register_tracker_class"):
    accelerator = Accelerator(cpu=True, log_with="stepscope")
    accelerator.init_trackers("byname", init_kwargs={"stepscope": {"run_name": "by name"}})
    accelerator.log({"loss": 1.0}, step=0)
    accelerator.end_training()
print("names=" + json.dumps(hasattr(accelerate.tracking, "register_tracker_class")))
""".replace("import accelerate.tracking", "import accelerate.tracking, stepscope", 1)
)
UNMODIFIED = (
    LOOP
    + """
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
accelerator.init_trackers("digits", config={"lr": 0.01})
train(accelerator)
"""
)


@pytest.fixture(scope="module")
def warm() -> Iterator[Warm]:
    process = Warm("torch", "accelerate")
    yield process
    process.close()


def values_at(run: Any, name: str) -> list[tuple[int, float]]:
    series = run.series(name)
    return list(zip(series.steps.tolist(), series.values.tolist(), strict=True))


def test_the_tracker_keeps_what_the_accelerator_logs(warm: Warm, tmp_path: Path) -> None:
    done = warm.python(tmp_path, TRACKED)
    assert done.code == 0, done.err
    runs = {run.name: run for run in stepscope.runs(tmp_path / "stepscope-runs")}
    run = runs["mine"]
    assert values_at(run, "loss") == list(enumerate(done.value("losses")))
    assert [step for step, _ in values_at(run, "accuracy")] == [12, 24]
    assert (run.project, list(run.tags), run.status) == ("digits", ["a"], "finished")
    assert (run.config["lr"], run.config["model/width"]) == (0.01, 8)
    assert sorted(one.kind for one in run.media("samples") + run.media("errors")) == ["image", "image", "table"]
    assert (done.value("same"), done.value("open"), done.value("left")) == (True, False, True)
    assert sorted(runs) == (["by name", "mine", "own"] if done.value("names") else ["mine", "own"])


@pytest.fixture(scope="module")
def both(warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Done, Done]:
    alone = warm.python(tmp_path_factory.mktemp("alone"), UNMODIFIED)
    folder = tmp_path_factory.mktemp("watched")
    watched = warm.stepscope(folder, UNMODIFIED, "run", "--name", "loop")
    assert (alone.code, watched.code) == (0, 0), watched.err
    return stepscope.run("loop", folder / "stepscope-runs"), alone, watched


def test_the_loop_is_the_same_to_the_last_bit_and_healthy(both: tuple[Any, Done, Done]) -> None:
    _, alone, watched = both
    assert watched.value("weights") == alone.value("weights")
    assert watched.value("losses") == alone.value("losses")
    assert watched.rules == []


def test_a_step_is_an_optimizer_step_with_the_loss_of_all_its_batches(both: tuple[Any, Done, Done]) -> None:
    run, _, watched = both
    losses = watched.value("losses")
    expected = [(losses[i] + losses[i + 1]) / 2 for i in range(0, 24, 2)]
    found = values_at(run, "train/loss")
    assert [step for step, _ in found] == list(range(12))
    assert all(math.isclose(mine, theirs, rel_tol=1e-5) for (_, mine), theirs in zip(found, expected, strict=True))


def test_what_the_script_logs_and_configures_is_kept_without_a_tracker(both: tuple[Any, Done, Done]) -> None:
    run, _, watched = both
    assert values_at(run, "loss") == list(enumerate(watched.value("losses")))
    assert run.config["lr"] == 0.01


UNPREPARED = """\
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
def train(accelerator, prepared, guarded=False):
    x = torch.randn(96, 4)
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    loader = DataLoader(TensorDataset(x, (x.sum(1) > 0).long()), batch_size=8, shuffle=True)
    if prepared:
        model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    else:
        model, loader = accelerator.prepare(model, loader)
    for inputs, labels in loader:
        with accelerator.accumulate(model):
            accelerator.backward(torch.nn.functional.cross_entropy(model(inputs), labels))
            if accelerator.sync_gradients or not guarded:
                optimizer.step()
                optimizer.zero_grad()
    return model
"""
BUGGY = "train(Accelerator(cpu=True, gradient_accumulation_steps=4), prepared=False)\n"
HEALTHY = """
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
model = train(accelerator, prepared=True)
train(accelerator, prepared=False, guarded=True)
model, held_out = accelerator.prepare(model.eval(), DataLoader(TensorDataset(torch.randn(32, 4)), batch_size=8))
with torch.no_grad():
    print(sum(len(model(inputs)) for inputs, in held_out))
"""


def test_an_optimizer_that_was_not_prepared_is_told_where_the_others_are(warm: Warm, tmp_path: Path) -> None:
    done = warm.stepscope(tmp_path, UNPREPARED + BUGGY, "run")
    assert done.rules == ["api.not-prepared"], done.err
    assert "steps came before all 4 batches of a step were in" in " ".join(done.err.split())
    assert "failed and was skipped" not in done.err
    line = next(n for n, text in enumerate(UNPREPARED.splitlines(), 1) if "model, loader = accelerator.prepare" in text)
    assert done.place_of("api.not-prepared") == f"train.py:{line}"


def test_steps_kept_for_whole_accumulations_and_mere_evaluation_are_sound(warm: Warm, tmp_path: Path) -> None:
    done = warm.stepscope(tmp_path, UNPREPARED + HEALTHY, "run")
    assert (done.code, done.rules, done.out.split()[-1]) == (0, [], "32"), done.err


LAUNCHED = """\
import json
from stepscope.launch.launchers import launcher_command
alone, several = ["--num_processes", "1", "--cpu"], ["--multi_gpu", "--num_processes", "2"]
for words in (["--cpu", "--num_processes", "2"], alone, several):
    command = launcher_command("accelerate", ["launch", *words, "train.py", "--lr", "1"], ["--quiet"])
print("command=" + json.dumps(command[1:]))
"""


def test_a_launch_on_the_cpu_says_that_it_starts_one_process(warm: Warm, tmp_path: Path) -> None:
    done = warm.python(tmp_path, LAUNCHED)
    assert done.code == 0, done.err
    assert done.err.count("accelerate launch starts one process on the CPU, not 2") == 1
    assert "stepscope run torchrun --nproc-per-node 2 train.py" in done.err
    assert done.value("command") == [
        "-m", "accelerate.commands.accelerate_cli", "launch", "--multi_gpu", "--num_processes", "2",
        "-m", "stepscope", "run", "--quiet", "train.py", "--lr", "1",
    ]  # fmt: skip
