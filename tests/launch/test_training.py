"""Trainings under the launcher: limits, switches, what is logged, and that not a bit of the training changes."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

from stepscope.runs.catalogue.run_list import runs
from stepscope.runs.read.folder import RunFolder

from .conftest import Done, launch_all

TRAIN = """
    import sys, torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(0)
    LR, epochs = 0.1, 3
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    x = torch.randn(48, 6); y = (x[:, 0] > 0).long()
    train = DataLoader(TensorDataset(x[:35], y[:35]), batch_size=8, shuffle=True, num_workers=workers)
    val_loader = DataLoader(TensorDataset(x[35:], y[35:]), batch_size=5)
    model = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.1), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=LR)
    criterion = nn.CrossEntropyLoss()
    try:
        for epoch in range(epochs):
            model.train()
            sizes = []
            for inputs, labels in train:
                optimizer.zero_grad()
                loss = criterion(model(inputs), labels)
                loss.backward()
                optimizer.step()
                sizes.append(len(labels))
                print("step", f"{loss.item():.9f}")
            model.eval()
            seen = []
            with torch.no_grad():
                for inputs, labels in val_loader:
                    out = model(inputs)
                    seen.append(len(labels))
                    right = (out.argmax(1) == labels).sum()
                    criterion(out, labels)
            print("epoch", epoch, sizes, seen, len(train), len(val_loader))
        torch.save(model.state_dict(), "model.pt")
        print("weights", sum(p.double().sum().item() for p in torch.load("model.pt").values()))
    except Exception:
        print("nobody may end up here")
    finally:
        print("finally", train.num_workers)
    """
MANUAL = """
    import torch
    w = torch.nn.Parameter(torch.zeros(3))
    optimizer = torch.optim.SGD([w], lr=0.1)
    for i in range(50):
        optimizer.zero_grad()
        (w - 1).square().sum().backward()
        optimizer.step()
        print("step", i)
    """
CRASH = """
    import torch
    w = torch.nn.Parameter(torch.zeros(3))
    (w @ torch.zeros(4)).backward()
    """
STALE = """
    import os, torch
    torch.manual_seed(0); os.chdir("/")
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(8):
        x = torch.randn(16, 4)
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        loss.backward()
        optimizer.step()
    """
OWN_RUN = """
    import stepscope, torch
    run = stepscope.init(project="own", name="mine", dir="own-runs", system=False, git=False)
    w = torch.nn.Parameter(torch.zeros(3))
    optimizer = torch.optim.SGD([w], lr=0.1)
    for i in range(3):
        optimizer.zero_grad(); loss = (w - 1).square().sum(); loss.backward(); optimizer.step()
        run.log({"loss": loss}); run.log({"loss": loss})
    run.finish()
    """
THREAD = "import threading\ndef main():\n" + textwrap.indent(textwrap.dedent(MANUAL), "    ") + (
    "\nthread = threading.Thread(target=main); thread.start(); thread.join(); print('after')\n"
)  # fmt: skip
COMPILED = """
    import torch
    model = torch.compile(torch.nn.Linear(2, 1)); print(type(model).__name__)
    """
RANDOM = (
    "import random, torch\nprint(random.random(), torch.rand(1).item(), torch.are_deterministic_algorithms_enabled())"
)
NAN = """
    import torch
    w = torch.nn.Parameter(torch.tensor([1.0, 0.0]))
    optimizer = torch.optim.SGD([w], lr=0.1)
    for i in range(3):
        optimizer.zero_grad()
        loss = torch.sqrt(w).sum()
        loss.backward()
        optimizer.step()
    """
STREAM = """
    import torch
    from torch.utils.data import BatchSampler, DataLoader, IterableDataset, Sampler, TensorDataset
    class Stream(IterableDataset):
        def __iter__(self): return iter(torch.arange(23.0))
    class Endless(Sampler):
        def __init__(self): pass
        def __iter__(self):
            while True: yield 1
        def __len__(self): return 9
    w = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([w], lr=0.01)
    for source in (DataLoader(Stream(), 5), DataLoader(TensorDataset(torch.arange(4.0)), 2, sampler=Endless())):
        sizes = []
        for batch in source:
            x = batch[0] if isinstance(batch, list) else batch
            optimizer.zero_grad(); (w * x).sum().backward(); optimizer.step(); sizes.append(len(x))
        print(sizes)
    """
CASES = {
    "stream": (STREAM, ["--fast-dev-run", "2"], []),
    "plain": (TRAIN, ["--no-run", "--no-diagnose"], []),
    "watched": (TRAIN, ["--dir", "watched", "--name", "first"], []),
    "workers": (TRAIN, ["--no-run"], ["2"]),
    "no workers": (TRAIN, ["--no-run", "--no-workers", "--max-steps", "1"], ["2"]),
    "max steps": (TRAIN, ["--dir", "steps", "--max-steps", "7"], []),
    "max epochs": (TRAIN, ["--no-run", "--max-epochs", "2"], []),
    "limits": (TRAIN, ["--no-run", "--limit-train-batches", "2", "--limit-val-batches", "1"], []),
    "shares": (TRAIN, ["--no-run", "--limit-train-batches", "40%", "--limit-val-batches", "0.4"], []),
    "dry": (TRAIN, ["--fast-dev-run"], []),
    "dry 2": (TRAIN, ["--fast-dev-run", "2"], []),
    "overfit": (TRAIN, ["--no-run", "--overfit-batches", "2"], []),
    "manual": (MANUAL, ["--no-run", "--max-steps", "4"], []),
    "manual dry": (MANUAL, ["--fast-dev-run=3"], []),
    "thread": (THREAD, ["--no-run", "--max-steps", "4"], []),
    "crash": (CRASH, ["--dir", "crashed"], []),
    "stale": (STALE, ["--dir", "stale", "--json", "found.json", "--strict"], []),
    "own run": (OWN_RUN, [], []),
    "eager": (COMPILED, ["--no-run", "--eager"], []),
    "deterministic": (RANDOM, ["--no-run", "--deterministic"], []),
    "deterministic 2": (RANDOM, ["--no-run", "--deterministic"], []),
    "nan watched": (TRAIN, ["--no-run", "--detect-nan", "--max-epochs", "1"], []),
    "nan": (NAN, ["--no-run", "--no-diagnose", "--detect-nan"], []),
    "check": (TRAIN, None, []),
    "check crash": (CRASH, None, []),
    "check stale": (STALE, None, []),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("trainings")


@pytest.fixture(scope="module")
def done(folder: Path) -> dict[str, Done]:
    cases = []
    for name, (text, options, args) in CASES.items():
        home = folder / name
        home.mkdir()
        (home / "train.py").write_text(textwrap.dedent(text))
        line = ["check", "train.py"] if options is None else ["run", *options, "train.py", *args]
        cases.append({"args": line, "cwd": str(home)})
    return dict(zip(CASES, launch_all(cases, torch=True), strict=True))


def lines(done: Done, word: str) -> list[str]:
    return [line for line in done.out.splitlines() if line.startswith(word)]


def only_run(store: Path) -> Any:
    (run,) = runs(store)
    return run


def test_not_a_bit_of_the_training_changes(done: dict[str, Done]) -> None:
    assert done["plain"].out == done["watched"].out
    assert "steps, not diagnosed" in done["plain"].err
    assert "nothing found" not in done["plain"].err
    assert done["watched"].out.count("step") == 15
    assert done["workers"].code == 0
    assert done["watched"].err.startswith("stepscope: train.py: nothing found in 15 steps; see the run with: ")
    assert done["watched"].err.count("\n") == 1


def test_max_steps_ends_after_the_step_and_runs_finally(done: dict[str, Done]) -> None:
    out = done["max steps"]
    assert (len(lines(out, "step")), lines(out, "finally"), out.code) == (7, ["finally 0"], 0)
    assert "stopped after 7 steps (--max-steps)" in out.err
    assert "nobody" not in out.out


def test_max_epochs_lets_the_last_validation_run(done: dict[str, Done]) -> None:
    assert [line.split()[1] for line in lines(done["max epochs"], "epoch")] == ["0", "1"]
    assert "stopped after 2 epochs (--max-epochs)" in done["max epochs"].err


def test_limits_tell_training_from_validation(done: dict[str, Done]) -> None:
    assert lines(done["limits"], "epoch") == [f"epoch {n} [8, 8] [5] 2 1" for n in range(3)]
    assert lines(done["shares"], "epoch") == [f"epoch {n} [8, 8] [5] 2 1" for n in range(3)]


def test_a_dry_run_takes_the_last_smaller_batch_too_and_saves_nothing(done: dict[str, Done], folder: Path) -> None:
    assert lines(done["dry"], "epoch") == ["epoch 0 [8, 3] [5, 3] 2 2"]
    assert lines(done["dry 2"], "epoch") == ["epoch 0 [8, 8, 3] [5, 5, 3] 3 3"]
    assert [path.name for path in (folder / "dry").iterdir()] == ["train.py"]
    assert done["dry"].code == 0


def test_a_dry_run_ends_where_data_never_does(done: dict[str, Done]) -> None:
    assert done["stream"].out == "[5, 5]\n[2, 2, 2]\n"


def test_overfitting_sees_the_same_batches_again(done: dict[str, Done]) -> None:
    assert lines(done["overfit"], "epoch")[0] == "epoch 0 [8, 8] [5, 5, 3] 2 3"
    assert "--overfit-batches" in done["overfit"].err


def test_loops_without_a_loader_are_counted_in_steps(done: dict[str, Done]) -> None:
    assert lines(done["manual"], "step") == [f"step {n}" for n in range(4)]
    assert lines(done["manual dry"], "step") == [f"step {n}" for n in range(3)]
    assert done["thread"].out.splitlines() == [*(f"step {n}" for n in range(4)), "after"]
    assert done["thread"].code == 0
    assert "Traceback" not in done["thread"].err


def test_switches(done: dict[str, Done]) -> None:
    assert lines(done["no workers"], "finally") == ["finally 0"]
    assert lines(done["workers"], "finally") == ["finally 2"]
    assert done["eager"].out == "Linear\n"
    assert done["deterministic"].out == done["deterministic 2"].out
    assert done["deterministic"].out.endswith("True\n")
    assert "sqrt" in done["nan"].err.lower()
    assert lines(done["nan watched"], "step") == lines(done["plain"], "step")[:5]
    stopped, closing = done["nan watched"].err.splitlines()
    assert stopped == "stepscope: stopped after 1 epoch (--max-epochs)"
    assert closing.startswith("stepscope: train.py: nothing found in 5 steps; no step was watched in detail")


def test_the_run_has_what_nobody_logged(done: dict[str, Done], folder: Path) -> None:
    run = only_run(folder / "watched" / "watched")
    assert run.name == "first"
    assert run.project == "watched"  # the folder: `train` would say nothing
    assert len(run.series("train/loss").values) == 15
    assert {"train/lr", "train/grad_norm", "train/update_ratio", "eval/val/loss", "eval/val/accuracy"} <= set(
        run.metrics()
    )
    assert run.config["optimizer/lr"] == 0.1
    assert run.config["batch_size (seen)"] == 8
    assert (run.config["LR"], run.config["epochs"]) == (0.1, 3)
    assert run.status == "finished"
    logged = [f"step {value:.9f}" for value in run.series("train/loss").values]
    assert logged == lines(done["watched"], "step")


def test_a_limit_is_no_failure(folder: Path, done: dict[str, Done]) -> None:
    assert only_run(folder / "max steps" / "steps").status == "finished"


def test_a_crash_ends_the_run_as_failed(folder: Path, done: dict[str, Done]) -> None:
    assert done["crash"].code == 1
    trace, raised, ours = done["crash"].err.partition("\nRuntimeError")
    assert raised
    assert "stepscope/" not in trace
    assert ours.rstrip().splitlines()[-1].startswith("stepscope: train.py: crashed after 0 steps; 1 error")
    assert only_run(folder / "crash" / "crashed").status == "failed"


def test_findings_go_everywhere_and_strict_fails(folder: Path, done: dict[str, Done]) -> None:
    found = json.loads((folder / "stale" / "found.json").read_text())["findings"]
    assert [(one["rule"], one["severity"], one["line"]) for one in found] == [("opt.no-zero-grad", "error", 9)]
    assert done["stale"].code == 1
    assert "error[opt.no-zero-grad]" in done["stale"].err
    assert done["stale"].out == ""
    assert [one.rule for one in RunFolder(only_run(folder / "stale" / "stale").path).findings] == ["opt.no-zero-grad"]


def test_the_scripts_own_run_is_used_and_its_steps_are_its_own(folder: Path, done: dict[str, Done]) -> None:
    home = folder / "own run"
    assert not (home / "stepscope-runs").exists()
    run = only_run(home / "own-runs")
    assert run.name == "mine"
    assert list(run.series("loss").steps) == list(range(6))
    assert list(run.series("watched/train/loss").steps) == [0, 1, 2]


def test_check_gives_a_verdict(done: dict[str, Done], folder: Path) -> None:
    assert done["check"].code == 0
    assert "stepscope check train.py: " in done["check"].err
    assert "tried        11 training steps, 3 epochs" in done["check"].err
    assert "after 2 epochs one batch of each pass, and the script finished" in done["check"].err
    assert [path.name for path in (folder / "check").iterdir()] == ["train.py"]
    passed = done["check"].err.split("passed")[1]
    assert "the model can overfit one batch (loss " in passed
    assert "evaluation is deterministic" in passed


def test_a_verdict_says_what_is_suspicious_and_what_was_not_tried(done: dict[str, Done]) -> None:
    verdict = done["check stale"].err.split("stepscope check train.py: ")[1]
    assert "  suspicious   gradients are cleared and steps taken in the right order (opt.no-zero-grad)" in verdict
    assert (
        "training and evaluation data do not overlap (nothing ran without gradients)" in verdict.split("not checked")[1]
    )
    crashed = done["check crash"].err.split("stepscope check train.py: ")[1]
    assert crashed.startswith("it does not run")
    assert "not checked  the rest: fix this and check again" in crashed
    assert done["check crash"].code == 1
