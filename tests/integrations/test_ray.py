"""Ray Tune with the real package: each trial becomes a run with the numbers that Tune itself reports."""

from __future__ import annotations

import math
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [pytest.mark.filterwarnings("ignore")]  # Ray's own, in great number


@pytest.fixture
def ray_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("RAY_AIR_NEW_OUTPUT", "0")
    monkeypatch.setenv("RAY_TRAIN_V2_ENABLED", "0")
    monkeypatch.setenv("TUNE_DISABLE_AUTO_CALLBACK_LOGGERS", "1")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_raylet_start_wait_time_s", "120")  # a busy machine
    before = signal.getsignal(signal.SIGTERM), sys.excepthook, threading.excepthook
    import ray

    try:
        ray.init(
            num_cpus=1,
            object_store_memory=100 << 20,
            include_dashboard=False,
            log_to_driver=False,
            configure_logging=False,
        )
        yield
        ray.shutdown()
    finally:
        signal.signal(signal.SIGTERM, before[0])  # Ray leaves its own there
        sys.excepthook, threading.excepthook = before[1:]


def test_trials_become_runs_with_tunes_own_numbers(ray_here: None, tmp_path: Path) -> None:
    from ray import tune
    from ray.tune.logger import JsonLoggerCallback

    from stepscope.integrations.ray import StepscopeLoggerCallback
    from stepscope.runs.catalogue.run_list import runs

    def train(config: dict[str, float]) -> None:
        for step in range(3):
            if config["lr"] == 0.3 and step == 2:
                raise ValueError("the third step is too much")
            tune.report(
                {"loss": math.exp(-config["lr"] * step), "val": {"acc": step / 3}, "note": "text", "left_out": 1.0}
            )

    store = tmp_path / "runs"
    callback = StepscopeLoggerCallback(project="tuned", tags=["night"], dir=store, exclude=["left_out"])
    tuner = tune.Tuner(
        train,
        tune_config=tune.TuneConfig(reuse_actors=True),
        param_space={"lr": tune.grid_search([0.1, 0.3]), "model": {"width": 64}},
        run_config=tune.RunConfig(
            name="expert", storage_path=str(tmp_path / "ray"), callbacks=[callback, JsonLoggerCallback()], verbose=0
        ),
    )
    results = tuner.fit()

    found = {run.config["lr"]: run for run in runs(store)}
    assert sorted(found) == [0.1, 0.3]
    frame = next(one.metrics_dataframe for one in results if one.config and one.config["lr"] == 0.1)
    run = found[0.1]
    assert (run.status, run.group, run.project) == ("finished", "expert", "tuned")
    assert run.tags == ["ray", "night"]
    assert run.config == {"lr": 0.1, "model/width": 64}
    for ours, theirs in (("loss", "loss"), ("val/acc", "val/acc"), ("ray/time_total_s", "time_total_s")):
        series = run.series(ours)
        assert series.steps.tolist() == frame["training_iteration"].tolist() == [1, 2, 3]
        assert series.values.tolist() == frame[theirs].tolist()
    assert set(run.metrics()) == {"loss", "val/acc", "ray/time_total_s", "ray/time_this_iter_s"}
    failed = found[0.3]
    assert failed.status == "failed"
    assert "the third step is too much" in (failed.standing.error or "")
    assert 'raise ValueError("the third step is too much")' in (failed.standing.traceback or "")
    assert "\x1b" not in (failed.standing.traceback or "")
    assert failed.series("loss").values.tolist() == [1.0, math.exp(-0.3)]
