from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import stepscope

GRID = {
    "method": "grid",
    "name": "search",
    "metric": {"name": "loss", "goal": "minimize"},
    "parameters": {
        "lr": {"values": [0.1, 0.01]},
        "width": {"value": 8},
        "opt": {"parameters": {"b": {"values": [1, 2]}}},
    },
}


def test_a_function_is_called_for_every_choice(
    wandb: ModuleType, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[Any] = []

    def train() -> None:
        run = wandb.init(config={"lr": 5.0, "own": 1, "opt": {"b": 0, "c": 7}})
        seen.append((wandb.config.lr, wandb.config.width, wandb.config.opt["b"], wandb.config["own"]))
        assert wandb.config.opt["c"] == 7
        wandb.config.update({"lr": 99, "late": 2})  # what the sweep has chosen stays chosen
        run.log({"loss": wandb.config.lr * wandb.config.opt["b"]})
        assert run.sweep_id == id

    id = wandb.sweep(GRID, project="swept")
    wandb.agent(id, function=train)
    assert sorted(seen) == [(0.01, 8, 1, 1), (0.01, 8, 2, 1), (0.1, 8, 1, 1), (0.1, 8, 2, 1)]
    runs = stepscope.runs(store)
    assert {(run.project, run.group, run.status) for run in runs} == {("swept", "search", "finished")}
    assert all(f"sweep:{id}" in run.tags for run in runs)
    assert sorted((run.config["lr"], run.config["opt/b"], run.config["own"]) for run in runs) == [
        (0.01, 1, 1), (0.01, 2, 1), (0.1, 1, 1), (0.1, 2, 1),
    ]  # fmt: skip
    assert wandb.run is None
    assert "4 runs, best loss 0.01 with lr=0.01, width=8, opt.b=1;" in capsys.readouterr().err


def test_the_best_run_of_a_sweep_is_found_by_its_id(wandb: ModuleType, store: Path) -> None:
    def train() -> None:
        wandb.init()
        wandb.log({"loss": 1 / wandb.config.lr})
        wandb.finish()

    id = wandb.sweep({**GRID, "parameters": {"lr": {"values": [0.5, 2.0, 1.0]}}}, project="swept")
    wandb.agent(id, function=train)
    wandb.init(project="swept", config={"lr": 100.0})  # of no sweep
    wandb.log({"loss": 0.0})
    wandb.finish()
    api = wandb.Api()
    found = api.sweep(f"someone/swept/{id}")
    assert (found.id, len(found.runs)) == (id, 3)
    assert found.best_run().config["lr"] == 2.0
    assert found.best_run(order="-summary_metrics.loss").config["lr"] == 0.5
    assert found.runs[0].user.username == found.runs[0].user.name != ""
    with pytest.raises(wandb.CommError, match="Could not find sweep 'other'"):
        api.sweep("other")


def test_the_metric_of_a_sweep_planned_elsewhere_must_be_named(
    wandb: ModuleType, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def train() -> None:
        wandb.init()
        wandb.finish()

    id = wandb.sweep(GRID)
    wandb.agent(id, function=train, count=1)
    monkeypatch.setattr("stepscope.wandb.public_sweep.orders", {})
    with pytest.raises(wandb.UsageError, match="pass an order"):
        wandb.Api().sweep(id).best_run()


def test_at_random_so_many_times(wandb: ModuleType, store: Path) -> None:
    space = {"lr": {"distribution": "log_uniform_values", "min": 1e-4, "max": 1e-1}, "n": {"min": 1, "max": 4}}
    seen: list[Any] = []

    def train() -> None:
        with wandb.init(project="p"):
            seen.append((wandb.config.lr, wandb.config.n))

    id = wandb.sweep({"method": "random", "parameters": space})
    wandb.agent(f"entity/p/{id}", train, count=3)
    wandb.agent(id, train, count=2)
    assert len(seen) == len(set(seen)) == 5
    assert all(1e-4 <= lr <= 1e-1 and n in (1, 2, 3, 4) for lr, n in seen)


def test_a_run_that_fails_does_not_end_the_sweep(
    wandb: ModuleType, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[int] = []

    def train() -> None:
        calls.append(1)
        wandb.init(project="p")
        if len(calls) == 2:
            raise ValueError("the second one")
        wandb.log({"loss": 1.0})

    wandb.agent(wandb.sweep(GRID), train)
    assert len(calls) == 4
    assert "ValueError: the second one" in capsys.readouterr().err
    assert sorted(run.status for run in stepscope.runs(store)) == ["failed", "finished", "finished", "finished"]


def test_when_all_fail_the_agent_stops(wandb: ModuleType) -> None:
    calls: list[int] = []

    def broken() -> None:
        calls.append(1)
        raise RuntimeError

    wandb.agent(wandb.sweep({"method": "random", "parameters": {"x": {"min": 0.0, "max": 1.0}}}), broken)
    assert len(calls) == 5


def test_a_cap_ends_it(wandb: ModuleType) -> None:
    calls: list[int] = []
    config = {"method": "random", "run_cap": 2, "parameters": {"x": {"min": 0.0, "max": 1.0}}}
    wandb.agent(wandb.sweep(config), lambda: calls.append(1), count=10)
    assert len(calls) == 2


def test_mistakes_are_named(wandb: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(wandb.UsageError, match=r"wandb\.sweep\(\): .*method"):
        wandb.sweep({"method": "guess", "parameters": {"x": {"values": [1]}}})
    with pytest.raises(wandb.CommError, match=r"stepscope sweep sweep\.yaml"):
        wandb.agent("unknown", lambda: None)
    id = wandb.sweep({**GRID, "early_terminate": {"type": "hyperband", "min_iter": 3}})
    assert "early_terminate" in capsys.readouterr().err
    with pytest.raises(wandb.UsageError, match="needs function="):
        wandb.agent(id)


def test_nothing_of_a_sweep_is_left(wandb: ModuleType) -> None:
    wandb.agent(wandb.sweep(GRID), lambda: None, count=1)
    with wandb.init(project="after", config={"lr": 7}) as run:
        assert (run.config.lr, run.group, run.sweep_id) == (7, "", None)


def test_ctrl_c_ends_the_sweep_and_says_so(wandb: ModuleType, store: Path) -> None:
    calls: list[int] = []

    def train() -> None:
        calls.append(1)
        wandb.init(project="p")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wandb.agent(wandb.sweep(GRID), train)
    assert len(calls) == 1
    assert stepscope.runs(store)[0].status == "stopped"
    with wandb.init(project="after") as run:
        assert run.group == ""


def test_without_optuna_bayes_says_what_to_do(wandb: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    id = wandb.sweep({**GRID, "method": "bayes"})
    with pytest.raises(wandb.UsageError, match=r"optuna, which is not installed.*method: random"):
        wandb.agent(id, lambda: None, count=1)
