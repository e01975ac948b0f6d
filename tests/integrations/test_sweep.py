"""`stepscope sweep` with Optuna's own samplers and pruners, and with a script and a sweep file made for W&B."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import optuna
import pytest
from click.testing import CliRunner

from stepscope.cli.main import commands
from stepscope.errors import ConfigError, MissingExtra
from stepscope.runs.read.folder import open_run
from stepscope.sweep import Outcome, make_strategy, sweep_from
from stepscope.sweep.early_stop import EarlyStop
from stepscope.sweep.pruning import make_pruner

PARAMETERS: dict[str, Any] = {
    "x": {"min": -3.0, "max": 3.0},
    "n": {"min": 1, "max": 9},
    "lr": {"min": 1e-4, "max": 1.0, "log": True},
    "kind": ["a", "b"],
    "layers": {"values": [[8], [8, 8]]},
    "drop": {"min": 0.0, "max": 0.5, "step": 0.1},
    "epochs": 5,
}


def sweep_of(method: str, **more: Any) -> Any:
    return sweep_from({"method": method, "metric": "loss", "parameters": PARAMETERS, "seed": 1, **more})


def quality(params: dict[str, Any]) -> float:
    return (params["x"] - 1) ** 2 + abs(params["n"] - 4) / 4 + (params["kind"] == "b")


def searched(strategy: Any, start: int, count: int) -> list[Outcome]:
    made = []
    for number in range(start, start + count):
        params = strategy.ask(number)
        made.append(Outcome(number, params, "finished", quality(params)))
        strategy.tell(made[-1])
    return made


@pytest.mark.parametrize("method", ["tpe", "gp", "qmc", "nsgaii"])
def test_samplers_stay_in_the_space(method: str) -> None:
    sweep = sweep_of(method)
    outcomes = searched(make_strategy(sweep), 0, 6)
    for outcome in outcomes:
        assert sweep.space.contains(outcome.params), outcome.params
        assert list(outcome.params) == list(PARAMETERS)
        assert outcome.params["epochs"] == 5
        assert outcome.params["layers"] in ([8], [8, 8])
        assert round(outcome.params["drop"] * 10) / 10 == outcome.params["drop"]


def test_tpe_finds_more_than_chance_and_goes_on_after_a_restart() -> None:
    sweep = sweep_of("tpe")
    first = searched(make_strategy(sweep), 0, 20)
    again = make_strategy(sweep)
    for outcome in first:
        again.tell(outcome)
    second = searched(again, 20, 20)
    rng = Random(0)
    chance = np.mean([quality(sweep.space.sample(rng)) for _ in range(400)])
    assert np.mean([one.value for one in second]) < 0.5 * chance
    assert not {one.params["x"] for one in first} & {one.params["x"] for one in second}


def test_the_same_seed_gives_optunas_own_draws() -> None:
    """Ours are those of a study that is asked by hand."""
    sweep = sweep_from({"method": "tpe", "metric": "loss", "parameters": {"x": {"min": -3.0, "max": 3.0}}, "seed": 1})
    strategy = make_strategy(sweep)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1))
    for number in range(14):
        trial = study.ask({"x": optuna.distributions.FloatDistribution(-3.0, 3.0)})
        params = strategy.ask(number)
        assert params == trial.params
        value = (trial.params["x"] - 1) ** 2
        study.tell(trial, value)
        strategy.tell(Outcome(number, params or {}, "finished", value))


def test_what_ended_otherwise_is_told_too() -> None:
    strategy = make_strategy(sweep_of("tpe"))
    for number, state in enumerate(("pruned", "diverged", "failed", "timeout", "finished")):
        params = strategy.ask(number)
        assert params is not None
        strategy.tell(Outcome(number, params, state, None, {0: 1.0, 1: 2.0}))  # type: ignore[arg-type]
    taken = strategy.ask(5)
    again = make_strategy(sweep_of("tpe"))
    assert taken is not None
    again.taken(5, taken)
    again.tell(Outcome(5, taken, "finished", 1.0))
    assert again.ask(6) is not None


def test_what_a_sampler_cannot_draw_is_said() -> None:
    with pytest.raises(ConfigError, match=r"parameters.lr: method tpe takes lists and ranges.*method: random"):
        make_strategy(sweep_of("tpe", parameters={"lr": {"distribution": "normal"}}))
    with pytest.raises(MissingExtra, match="method: cmaes needs cmaes"):
        make_strategy(sweep_of("cmaes"))


@pytest.mark.parametrize("name", ["percentile", "hyperband", "patient", "threshold"])
def test_optunas_pruners_see_the_readings(name: str) -> None:
    options = {"threshold": {"upper": 50.0}, "hyperband": {"min_resource": 1, "max_resource": 20}}.get(name, {})
    pruner = make_pruner(EarlyStop(pruner=name, options=tuple(options.items())), "min")
    assert pruner is not None
    steps = np.arange(20)
    for number in range(6):
        pruner.seen(number, steps, 1.0 / (steps + 1))
        pruner.ended(number, False)
    said = [pruner.seen(number, steps, 100.0 + steps) for number in range(6, 12)]
    assert any(said)
    assert all(f"by Optuna's {name.capitalize()}Pruner" in one for one in said if one is not None)


def test_options_that_a_pruner_does_not_know_are_refused() -> None:
    with pytest.raises(ConfigError, match="PercentilePruner does not take these options"):
        make_pruner(EarlyStop(pruner="percentile", options=(("speed", 3),)), "min")


TRAIN = """
import argparse, stepscope
parser = argparse.ArgumentParser()
parser.add_argument("--x", type=float)
x = parser.parse_args().x
with stepscope.init(console=False, system=False, git=False) as run:
    for step in range(3):
        run.log({"loss": (x - 1) ** 2 + 1 / (step + 1)})
"""


def test_a_sweep_with_tpe_is_run_stopped_and_made_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(TRAIN)
    sweep = {
        "script": "train.py", "watch": False, "method": "bayes", "seed": 2, "run_cap": 3,
        "metric": {"name": "loss", "goal": "minimize"}, "parallel": 3, "parameters": {"x": {"min": -3.0, "max": 3.0}},
    }  # fmt: skip
    for runs in (3, 5):
        (tmp_path / "sweep.yaml").write_text(json.dumps({**sweep, "run_cap": runs}))
        result = CliRunner().invoke(commands, ["sweep", "sweep.yaml", "--json"])
        assert result.exit_code == 0, result.output
        told = json.loads(result.stdout)
        assert len(told["runs"]) == runs
        values = [one["value"] for one in told["runs"]]
        assert values == pytest.approx([(one["params"]["x"] - 1) ** 2 + 1 / 3 for one in told["runs"]])
        assert told["best"] == values.index(min(values))


WANDB_SCRIPT = """
import argparse, wandb
parser = argparse.ArgumentParser()
parser.add_argument("--learning_rate", type=float, default=0.1)
args = parser.parse_args()
wandb.init(project="w", config=vars(args))
for step in range(4):
    wandb.log({"validation_loss": wandb.config.learning_rate / (step + 1)})
wandb.finish()
"""
WANDB_SWEEP = """
program: train.py
method: random
run_cap: 1
metric: {goal: minimize, name: validation_loss}
parameters:
  learning_rate: {distribution: log_uniform_values, min: 0.01, max: 0.9}
command: ["${env}", "${interpreter}", "${program}", "${args}"]
"""


def test_a_sweep_of_wandb_runs_a_script_with_wandb_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in (("WANDB_MODE", "offline"), ("WANDB_SILENT", "true"), ("WANDB_DIR", str(tmp_path))):
        monkeypatch.setenv(name, value)
    (tmp_path / "train.py").write_text(WANDB_SCRIPT)
    (tmp_path / "sweep.yaml").write_text(WANDB_SWEEP)
    result = CliRunner().invoke(commands, ["sweep", "sweep.yaml", "--json"])
    assert result.exit_code == 0, result.output
    (one,) = json.loads(result.stdout)["runs"]
    lr = one["params"]["learning_rate"]
    assert one["value"] == lr / 4
    run = open_run(one["run"])
    assert run.series("validation_loss").values.tolist() == [lr, lr / 2, lr / 3, lr / 4]
    assert run.config["learning_rate"] == lr
