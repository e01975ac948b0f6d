"""Sweep files: what is understood, W&B's words among it, and what is said about mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stepscope.errors import BadData, ConfigError, NotFound
from stepscope.sweep import read_sweep, sweep_from
from stepscope.sweep.changes import changes
from stepscope.sweep.commands import arguments_of, command_of
from stepscope.sweep.early_stop import EarlyStop
from stepscope.sweep.fields import seconds_from
from stepscope.sweep.spec import Arguments, Metric

LR = {"lr": [0.1, 0.01]}


def written(folder: Path, text: str) -> Path:
    path = folder / "sweep.yaml"
    path.write_text(text)
    return path


def test_a_whole_file(tmp_path: Path) -> None:
    sweep = read_sweep(
        written(
            tmp_path,
            """
script: train.py
method: random
metric: {name: val/acc, goal: max, of: best, target: 0.99}
runs: 12
gpus: [0, 1, "2,3"]
seed: 4
timeout: 1h30m
budget: 2d
retries: 1
environment: {OMP_NUM_THREADS: 1}
arguments: {style: space, booleans: no-flag}
args: --epochs 5
early_stop: {pruner: median, after_steps: 100, diverged: 5}
tags: [night]
parameters:
  lr: {min: 1e-4, max: 1e-1, log: true}
  mode: [on, off]
  bias: [true, false]
""",
        )
    )
    assert sweep.name == "sweep"
    assert sweep.metric == Metric("val/acc", "max", "best", 0.99)
    assert (sweep.runs, sweep.parallel, sweep.seed, sweep.retries) == (12, 3, 4, 1)
    assert sweep.slot(2) == {"CUDA_VISIBLE_DEVICES": "2,3"}
    assert (sweep.timeout_s, sweep.budget_s) == (5400, 172800)
    assert sweep.environment == {"OMP_NUM_THREADS": "1"}
    assert sweep.early_stop == EarlyStop(pruner="median", after_steps=100, diverged=5)
    assert sweep.fixed == ("--epochs", "5")
    # YAML 1.1 would make truth values of these, and a text of 1e-4
    assert sweep.space.domains["mode"].all_values() == ("on", "off")
    assert sweep.space.domains["bias"].all_values() == (True, False)
    assert sweep.space.domains["lr"].contains(1e-4)


def test_a_file_of_wandb_works_as_it_is(tmp_path: Path) -> None:
    sweep = read_sweep(
        written(
            tmp_path,
            """
program: train.py
method: bayes
name: sweepdemo
description: a demo
project: first
entity: me
run_cap: 30
metric:
  goal: minimize
  name: validation_loss
parameters:
  batch_size:
    distribution: q_log_uniform_values
    max: 256
    min: 32
    q: 8
  dropout: {values: [0.15, 0.2]}
  learning_rate: {min: 0.0001, max: 0.1}
  optimizer:
    parameters:
      name: {values: [adam, sgd]}
early_terminate: {type: hyperband, s: 2, eta: 3, max_iter: 27}
command: ["${env}", "${interpreter}", "${program}", "--verbose", "${args}"]
""",
        )
    )
    assert (sweep.method, sweep.runs, sweep.project) == ("tpe", 30, "first")
    assert sweep.metric == Metric("validation_loss", "min")
    assert sweep.early_stop == EarlyStop(pruner="asha", min_steps=3, eta=3, by="readings")
    params = {"batch_size": 64, "dropout": 0.2, "learning_rate": 0.01, "optimizer.name": "sgd"}
    words = command_of(sweep, params)
    assert words[1:] == [
        "-m", "stepscope", "run", "train.py", "--verbose",
        "--batch_size=64", "--dropout=0.2", "--learning_rate=0.01", "--optimizer.name=sgd",
    ]  # fmt: skip


def test_commands_in_every_style() -> None:
    params = {"lr": 0.1, "bias": True, "tied": False, "layers": [8, 8], "init": None, "text": "a b's"}
    assert arguments_of(params, Arguments("space", "flag")) == [
        "--lr", "0.1", "--bias", "--layers", "[8, 8]", "--init", "None", "--text", "a b's",
    ]  # fmt: skip
    assert arguments_of(params, Arguments("hydra")) == [
        "lr=0.1", "bias=true", "tied=false", "layers=[8, 8]", "init=null", "text='a b\\'s'",
    ]  # fmt: skip
    assert arguments_of(params, Arguments("none")) == []
    assert arguments_of({"lr": -1e-05}, Arguments()) == ["--lr=-1e-05"]


def test_a_command_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "29500")
    sweep = sweep_from(
        {
            "command": "torchrun --port ${envvar:PORT} -m stepscope run train.py --out=out/${number} ${args} x${lr}",
            "parameters": LR,
        }
    )
    assert command_of(sweep, {"lr": 0.1}, number=3) == [
        "torchrun", "--port", "29500", "-m", "stepscope", "run", "train.py", "--out=out/3", "--lr=0.1", "x0.1",
    ]  # fmt: skip
    with pytest.raises(ConfigError, match=r"\$\{learning_rate\} is unknown; known are .*lr"):
        command_of(sweep_from({"command": "x ${learning_rate}", "parameters": LR}), {"lr": 0.1})


def test_plain_python_and_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("")
    plain = sweep_from({"script": "train.py", "watch": False, "args": ["-v"], "parameters": LR})
    assert command_of(plain, {"lr": 0.1})[1:] == ["train.py", "-v", "--lr=0.1"]
    module = sweep_from({"module": "pkg.train", "run_options": ["--no-diagnose"], "parameters": LR})
    assert command_of(module, {"lr": 0.1})[1:] == [
        "-m",
        "stepscope",
        "run",
        "--no-diagnose",
        "-m",
        "pkg.train",
        "--lr=0.1",
    ]
    with pytest.raises(ConfigError, match=r"there is no script 'gone.py'"):
        command_of(sweep_from({"script": "gone.py", "parameters": LR}), {"lr": 0.1})


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"parameters": LR, "methdo": "grid"}, "has 'methdo', which is not known here; did you mean 'method'?"),
        ({"parameters": LR, "method": "annealing"}, "expected one of grid, random, tpe"),
        ({"parameters": {}}, "must name at least one parameter"),
        ({}, "must name at least one parameter"),
        ([1], "expected names with values"),
        (None, "expected names with values"),
        ({"parameters": LR, "method": "tpe"}, "method tpe looks at a metric"),
        ({"parameters": LR, "early_stop": "median"}, "early_stop looks at a metric"),
        ({"parameters": LR, "runs": 0}, "runs is 0; expected a whole number, 1 or more"),
        ({"parameters": LR, "runs": True}, "runs is True"),
        ({"parameters": LR, "runs": 1, "run_cap": 2}, "has both 'runs' and 'run_cap'"),
        ({"parameters": LR, "timeout": "soon"}, "a time like 90s"),
        ({"parameters": LR, "metric": {"goal": "min"}}, "metric needs the name"),
        ({"parameters": LR, "metric": {"name": "x", "goal": "up"}}, "goal is 'up'; expected min or max"),
        ({"parameters": LR, "script": "a.py", "module": "b"}, "both `script` and `module`"),
        ({"parameters": LR, "gpus": [], }, "a number of GPUs or a list"),
        ({"parameters": LR, "environment": ["A"]}, "expected variables with values"),
        ({"parameters": LR, "environment": {"A=B": 1}}, "cannot be the name of a variable"),
        ({"parameters": LR, "command": 5}, "command is 5; expected a list of texts"),
        ({"parameters": LR, "arguments": "sideways"}, "expected one of equals, space, hydra, none"),
        ({"parameters": LR, "name": "  "}, "must have 1 to 200 letters"),
    ],
)  # fmt: skip
def test_mistakes_are_named_with_what_was_expected(raw: Any, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        sweep_from(raw, where="sweep.yaml")
    assert said in str(error.value)
    assert "sweep.yaml" in str(error.value)


def test_files_that_are_no_sweep(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no file"):
        read_sweep(tmp_path / "gone.yaml")
    with pytest.raises(ConfigError, match=r"sweep.yaml:2:1: 'runs' stands here twice"):
        read_sweep(written(tmp_path, "runs: 1\nruns: 2\n"))
    with pytest.raises(ConfigError, match=r"sweep.yaml:1:\d+"):
        read_sweep(written(tmp_path, "parameters: [1, 2"))
    (tmp_path / "sweep.yaml").write_bytes(b"\xff\xfe\x00binary")
    with pytest.raises(BadData, match="is not text"):
        read_sweep(tmp_path / "sweep.yaml")
    (tmp_path / "sweep.yaml").write_bytes(b"a: " + b"x" * (2 << 20))
    with pytest.raises(BadData, match="above the limit of 1,048,576"):
        read_sweep(tmp_path / "sweep.yaml")
    with pytest.raises(ConfigError, match="is a folder"):
        read_sweep(tmp_path)
    with pytest.raises(ConfigError):
        read_sweep(written(tmp_path, "!!python/object/apply:os.system ['echo no']"))
    with pytest.raises(ConfigError):
        read_sweep(written(tmp_path, "[" * 20_000))


def test_durations() -> None:
    assert [seconds_from(text) for text in ("2h 30m", "1.5h", 60, "60")] == [9000, 5400, 60, 60]
    assert [seconds_from(text) for text in ("", "h", "-5s", 0, True)] == [None] * 5


def test_what_changed_is_said_value_by_value() -> None:
    before = {"runs": 4, "metric": {"name": "loss"}, "gone": 1}
    now = {"runs": 4, "metric": {"name": "acc", "goal": "max"}}
    assert changes(before, now) == [
        'metric.name: "loss" -> "acc"',
        'metric.goal: added, "max"',
        "gone: taken away, was 1",
    ]
