"""A sweep that workers share: each setting is dealt out once, each result counts once."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from stepscope.sweep.backends import job_manifest, slurm_script, worker_command
from stepscope.sweep.outcome import Outcome
from stepscope.sweep.pausing import Pause
from stepscope.sweep.spec import Sweep, sweep_from

SCRIPT = """
import stepscope
run = stepscope.init()
for step in range(4):
    run.log({"loss": (run.config["lr"] - 0.3) ** 2 + 1 / (step + 1)}, step=step)
run.finish()
"""


def sweep_of(**more: Any) -> Sweep:
    given = {"metric": {"name": "loss"}, "parameters": {"lr": {"min": 0.0, "max": 1.0}, "depth": [1, 2]}, **more}
    return sweep_from(given, name="shared")


def workers(tmp_path: Path, sweep: Sweep, count: int = 2) -> list[Any]:
    pytest.importorskip("optuna")
    from stepscope.sweep.shared_study import SharedStudy

    return [SharedStudy(sweep, f"sqlite:///{tmp_path}/study.db", tmp_path) for _ in range(count)]


def asked(worker: Any) -> Any:
    """A trial of a worker that is killed before it does anything else."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return worker.study.ask(worker._distributions.all)


def finished(number: int, params: dict[str, Any], value: float = 1.0) -> Outcome:
    return Outcome(number, params, "finished", value)


def test_two_workers_together_get_as_many_settings_as_there_are_runs(tmp_path: Path) -> None:
    one, other = workers(tmp_path, sweep_of(runs=5))
    dealt = [worker.next() for worker in (one, other, one, other, one, other, one)]
    taken = [found for found in dealt if found is not None]
    assert sorted(number for number, _ in taken) == [0, 1, 2, 3, 4]
    for number, params in taken:
        (one if number in one.trials else other).tell(finished(number, params))
    assert (one.counts().results, one.is_over(), other.next()) == (5, True, None)


def test_what_a_lost_worker_had_is_dealt_out_again_and_its_late_result_is_dropped(tmp_path: Path) -> None:
    one, other = workers(tmp_path, sweep_of(runs=1))
    number, params = one.next()
    other.release(number)  # as a heartbeat that stops would
    again = other.next()
    assert again == (number + 1, params)
    one.tell(finished(number, params, 5.0))
    other.tell(finished(number + 1, params, 2.0))
    assert [(one[0], one[2], one[3]) for one in other.outcomes()] == [(1, "complete", 2.0)]
    assert other.is_over()


def test_a_setting_drawn_too_late_by_a_worker_that_was_then_killed_gives_no_result(tmp_path: Path) -> None:
    one, other = workers(tmp_path, sweep_of(runs=1))
    number, params = one.next()
    other.release(asked(other).number)  # both had asked at once; this worker is then killed
    assert one.counts().waiting == 1
    assert other.next() is None
    one.tell(finished(number, params))
    assert (one.counts().results, one.is_over(), one.next()) == (1, True, None)


def test_a_worker_killed_before_its_first_heartbeat_is_given_one_by_the_others(tmp_path: Path) -> None:
    one, other, third = workers(tmp_path, sweep_of(runs=1, heartbeat="1s"), 3)
    lost = asked(one)
    beats: list[int] = []
    for worker in (other, third):
        worker._beat = beats.append
        for now in (100.0, 103.0):
            worker.keep_up(now)
    assert beats == [lost._trial_id]


def test_a_trial_whose_settings_are_being_drawn_is_listed_without_them(tmp_path: Path) -> None:
    one, other = workers(tmp_path, sweep_of(runs=2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one.study.ask({"lr": one._distributions.all["lr"]})
    assert [(params, state) for _, params, state, *_ in other.outcomes()] == [({}, "running")]


def test_a_grid_is_queued_once_by_whoever_comes_first(tmp_path: Path) -> None:
    sweep = sweep_from({"method": "grid", "parameters": {"a": [1, 2], "b": ["x", "y"]}}, name="grid")
    one, other = workers(tmp_path, sweep)
    dealt = [worker.next() for worker in (one, other, one, other, one)]
    assert [found and found[1] for found in dealt] == [
        {"a": 1, "b": "x"},
        {"a": 1, "b": "y"},
        {"a": 2, "b": "x"},
        {"a": 2, "b": "y"},
        None,
    ]


def test_a_stopped_sweep_deals_nothing_out_until_it_is_resumed(tmp_path: Path) -> None:
    one, other = workers(tmp_path, sweep_of(runs=3))
    other.stop()
    assert (one.next(), one.is_over()) == (None, True)
    other.stop(False)
    assert one.next() is not None


def test_a_pause_that_one_worker_sees_reaches_all_and_so_does_its_end(tmp_path: Path) -> None:
    one, other = workers(tmp_path, sweep_of(runs=2))
    assert not other.is_paused(None)
    assert one.is_paused(Pause("a", True))
    assert other.is_paused(None)  # on another disk
    assert other.is_paused(Pause("b", False))  # the end of a pause of its own, not of this one
    assert not one.is_paused(Pause("a", False))
    assert not other.is_paused(None)


def test_a_worker_runs_what_it_is_dealt_and_says_where_the_runs_are(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    from stepscope.sweep.worker import open_worker

    (tmp_path / "train.py").write_text(SCRIPT)
    command = [sys.executable, str(tmp_path / "train.py")]
    worker = open_worker(sweep_of(runs=2, command=command, arguments="none"), tmp_path / "runs", "journal")
    worker.go()
    worker.journal.close()
    states = [(number, state, value is not None) for number, _, state, value, _, _ in worker.study.outcomes()]
    assert states == [(0, "complete", True), (1, "complete", True)]
    assert all(Path(run or "").is_dir() for *_, run, _ in worker.study.outcomes())
    assert worker.best is not None


def test_no_option_of_slurm_can_leave_its_line(tmp_path: Path) -> None:
    options = {"comment": "two words\ntouch planted", "exclusive": None}
    text = slurm_script(sweep_of(backend="slurm", workers=2, backend_options=options), ["true"], Path("/runs/a b"))
    script = tmp_path / "submit.sh"
    script.write_text(text)
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
    subprocess.run(["bash", script], cwd=tmp_path, check=True)
    assert not (tmp_path / "planted").exists()
    assert "#SBATCH --comment='two words touch planted'" in text
    assert "#SBATCH --exclusive\n" in text
    assert "#SBATCH --output='/runs/a b/worker-%a.log'" in text


def test_what_is_submitted_to_slurm_and_kubernetes(tmp_path: Path) -> None:
    command = worker_command(Path("/code/sweep.yaml"), "postgresql://db/sweeps", Path("/data/runs"))
    slurm = sweep_of(backend="slurm", workers=4, backend_options={"partition": "gpu", "time": "4:00:00"})
    assert slurm_script(slurm, command, Path("/data/runs/.sweeps/shared")) == (
        "#!/bin/bash\n"
        "#SBATCH --job-name=shared\n"
        "#SBATCH --array=1-4\n"
        "#SBATCH --output=/data/runs/.sweeps/shared/worker-%a.log\n"
        "#SBATCH --partition=gpu\n"
        "#SBATCH --time=4:00:00\n"
        "exec stepscope sweep /code/sweep.yaml --worker --storage postgresql://db/sweeps --dir /data/runs\n"
    )
    options = {"image": "registry/train:1", "nvidia.com/gpu": 1, "volume": "runs-claim"}
    kubernetes = sweep_of(name=f"Größe {'x' * 41} &c", backend="kubernetes", workers=3, backend_options=options)
    job = json.loads(job_manifest(kubernetes, command, Path("/data/runs")))
    assert job["metadata"]["name"] == f"gr-e-{'x' * 41}-c"
    assert job["spec"]["template"]["spec"]["volumes"] == [
        {"name": "runs", "persistentVolumeClaim": {"claimName": "runs-claim"}}
    ]
    assert (job["kind"], job["spec"]["parallelism"]) == ("Job", 3)
    assert job["spec"]["template"]["spec"]["containers"] == [
        {
            "name": "worker",
            "image": "registry/train:1",
            "command": command,
            "resources": {"limits": {"nvidia.com/gpu": "1"}},
            "volumeMounts": [{"name": "runs", "mountPath": "/data/runs"}],
        }
    ]


def test_a_storage_whose_tables_another_worker_makes_at_the_same_moment_is_opened_again() -> None:
    pytest.importorskip("optuna")
    from stepscope.errors import ConfigError
    from stepscope.sweep.shared_study import open_made_by_another

    faults = [RuntimeError("table studies already exists"), RuntimeError("duplicate key value violates pg_type")]

    def opens() -> str:
        if faults:
            raise faults.pop()
        return "opened"

    assert open_made_by_another(opens, "sqlite:///s.db", again_s=0.0) == "opened"
    faults.append(RuntimeError("connection refused"))
    with pytest.raises(ConfigError, match="connection refused"):
        open_made_by_another(opens, "sqlite:///s.db", again_s=0.0)
