"""Optuna with the real package: trials become runs that say what the study says, and a study is not changed by it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import optuna
import pytest

import stepscope
from stepscope.integrations.optuna import StepscopeCallback
from stepscope.runs.catalogue.run_list import runs
from stepscope.runs.read.folder import RunFolder

optuna.logging.set_verbosity(optuna.logging.CRITICAL)


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STEPSCOPE_DIR", str(tmp_path / "runs"))
    monkeypatch.setenv("STEPSCOPE_QUIET", "1")


def objective(trial: optuna.Trial) -> float:
    x = trial.suggest_float("x", -2.0, 2.0)
    kind = trial.suggest_categorical("kind", ["a", "b"])
    trial.set_user_attr("squared", x * x)
    if trial.number == 3:
        raise ValueError("the third is not liked")
    for step in range(5):
        trial.report(x * x + 1 / (step + 1), step)
        if trial.number == 2 and step == 3:
            raise optuna.TrialPruned
    return x * x + (kind == "b")


def study_of(**options: Any) -> optuna.Study:
    return optuna.create_study(sampler=optuna.samplers.TPESampler(seed=3), study_name="squares", **options)


def found(tmp_path: Path) -> dict[int, RunFolder]:
    return {int(run.name.rpartition("-")[2]): run for run in runs(tmp_path / "runs")}


@pytest.mark.parametrize("decorated", [True, False])
def test_each_trial_is_a_run_that_says_what_the_study_says(decorated: bool, tmp_path: Path) -> None:
    callback = StepscopeCallback(metric="error", project="demo", tags=["night"])
    study = study_of()
    study.optimize(
        callback.track(objective) if decorated else objective, n_trials=6, callbacks=[callback], catch=(ValueError,)
    )
    by_number = found(tmp_path)
    assert sorted(by_number) == list(range(6))
    statuses = {"COMPLETE": "finished", "PRUNED": "stopped", "FAIL": "failed"}
    for trial in study.trials:
        run = by_number[trial.number]
        assert run.status == statuses[trial.state.name]
        assert (run.group, run.project) == ("squares", "demo")
        assert run.config == trial.params
        assert run.summary["squared"] == trial.user_attrs["squared"]
        reported = run.series("error") if "error" in run.metrics() else None
        expected = dict(trial.intermediate_values)
        if trial.state.name == "COMPLETE" and expected:  # the last point, and so the column, is the objective
            expected[max(expected) + 1] = trial.value
        assert (
            dict(zip(reported.steps.tolist(), reported.values.tolist(), strict=True)) if reported else {}
        ) == expected
        if trial.state.name == "COMPLETE":
            assert run.summary["error"] == trial.value
        assert run.tags == ["optuna", "night", *(["pruned"] if trial.state.name == "PRUNED" else [])]
        assert [(rule.name, rule.goal) for rule in run.rules] == [("error", "min")]
    assert by_number[2].tags[-1] == "pruned"
    if decorated:
        assert "the third is not liked" in (by_number[3].standing.error or "")
    assert stepscope.current() is None


def test_what_the_study_finds_is_the_same_with_us(tmp_path: Path) -> None:
    plain, watched = study_of(), study_of()
    callback = StepscopeCallback()
    plain.optimize(objective, n_trials=12, catch=(ValueError,))
    watched.optimize(callback.track(objective), n_trials=12, callbacks=[callback], catch=(ValueError,))
    assert [trial.params for trial in watched.trials] == [trial.params for trial in plain.trials]
    assert [trial.values for trial in watched.trials] == [trial.values for trial in plain.trials]
    assert [trial.intermediate_values for trial in watched.trials] == [t.intermediate_values for t in plain.trials]
    assert [trial.state for trial in watched.trials] == [trial.state for trial in plain.trials]


def test_what_the_objective_logs_belongs_to_its_trial_and_is_not_doubled(tmp_path: Path) -> None:
    callback = StepscopeCallback(metric="loss")

    @callback.track
    def logging(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0.0, 1.0)
        for step in range(3):
            trial.report(x + step, step)
            stepscope.log({"loss": x + step, "other": 1.0}, step=step)
        return x

    study = study_of()
    study.optimize(logging, n_trials=2, callbacks=[callback])
    for number, run in found(tmp_path).items():
        x = study.trials[number].params["x"]
        assert run.series("loss").values.tolist() == [x, x + 1, x + 2]
        assert run.series("other").steps.tolist() == [0, 1, 2]


def test_a_value_alone_is_a_series_too(tmp_path: Path) -> None:
    callback = StepscopeCallback()
    study_of(direction="maximize").optimize(
        callback.track(lambda trial: trial.suggest_int("n", 1, 3)), n_trials=2, callbacks=[callback]
    )
    for run in found(tmp_path).values():
        assert run.series("value").values.tolist() == [run.config["n"]]
        assert run.rules[0].goal == "max"


@pytest.mark.parametrize("decorated", [True, False])
def test_several_objectives_have_several_names(decorated: bool, tmp_path: Path) -> None:
    callback = StepscopeCallback(metric=["loss"])

    def two(trial: optuna.Trial) -> tuple[float, float]:
        x = trial.suggest_float("x", 0.0, 1.0)
        return x, 1 - x

    study = optuna.create_study(directions=["minimize", "maximize"], study_name="pair")
    study.optimize(callback.track(two) if decorated else two, n_trials=2, callbacks=[callback])
    for number, run in found(tmp_path).items():
        values = study.trials[number].values
        assert [run.summary["loss"], run.summary["value_1"]] == values
        assert [(rule.name, rule.goal) for rule in run.rules] == [("loss", "min"), ("value_1", "max")]


def test_threads_have_a_run_each(tmp_path: Path) -> None:
    callback = StepscopeCallback(metric="loss")

    @callback.track
    def logging(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0.0, 1.0)
        run = callback.run
        assert run is not None
        for step in range(20):
            run.log({"x": x, "step": step}, step=step)
        return x

    study = study_of()
    study.optimize(logging, n_trials=8, n_jobs=4, callbacks=[callback])
    by_number = found(tmp_path)
    assert sorted(by_number) == list(range(8))
    for number, run in by_number.items():
        assert run.status == "finished"
        assert run.series("x").values.tolist() == [study.trials[number].params["x"]] * 20


@pytest.mark.parametrize("result", [None, float("nan"), "text"])
def test_what_optuna_counts_as_failed_is_failed(result: Any, tmp_path: Path) -> None:
    callback = StepscopeCallback()
    study = study_of()
    study.optimize(callback.track(lambda trial: result), n_trials=1, callbacks=[callback])
    assert study.trials[0].state == optuna.trial.TrialState.FAIL
    run = found(tmp_path)[0]
    assert run.status == "failed"
    assert "which is not a number" in (run.standing.error or "")


def test_a_full_disk_or_a_fault_of_ours_does_not_reach_the_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("stepscope.integrations.optuna.Reports.take", lambda *args: 1 / 0)
    monkeypatch.setattr("stepscope.integrations.optuna.StepscopeCallback._write", lambda *args: 1 / 0)
    callback = StepscopeCallback()
    study = study_of()
    study.optimize(callback.track(objective), n_trials=2, callbacks=[callback])
    assert [trial.state.name for trial in study.trials] == ["COMPLETE", "COMPLETE"]
    assert "failed and was skipped; training continues" in capsys.readouterr().err
    assert math.isfinite(study.best_value)
