"""Sweeps with real processes: ended in every way a run and a sweep can end, and taken up again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.sweep.conftest import Folder

from stepscope.runs.catalogue.run_list import runs
from stepscope.runs.format.writer_identity import boot_id, host_name
from stepscope.sweep import read_sweep
from stepscope.sweep.journal import Journal, folder_of
from stepscope.sweep.live import last_line
from stepscope.sweep.opening import open_sweep
from stepscope.sweep.pausing import set_paused
from stepscope.sweep.process import is_alive
from stepscope.sweep.start import command_and_environment
from stepscope.sweep.trials import Trial


def states(folder: Folder) -> dict[int, str]:
    return {one["number"]: one["state"] for one in folder.status()}


def test_every_setting_runs_once_and_the_best_is_named(folder: Folder) -> None:
    folder.write(
        parameters={"lr": [0.2, 0.9, 0.5], "steps": 3},
        parallel=2,
        slots=[{"CUDA_VISIBLE_DEVICES": "0"}, {"CUDA_VISIBLE_DEVICES": "1"}],
    )
    told = json.loads("{" + folder.sweep("--json").partition("\n{")[2])
    assert told["best"] == 1
    assert [one["params"]["lr"] for one in told["runs"]] == [0.2, 0.9, 0.5]
    assert [one["value"] for one in told["runs"]] == pytest.approx([0.8**2 + 1 / 3, 0.1**2 + 1 / 3, 0.5**2 + 1 / 3])
    assert Counter(folder.lines("done.txt")) == Counter(["0.2", "0.9", "0.5"])
    assert {line.split()[2] for line in folder.lines("started.txt")} == {"0", "1"}
    found = list(runs(folder.path / "stepscope-runs"))
    assert {run.group for run in found} == {"sweep"}
    assert {run.name for run in found} == {"sweep-0", "sweep-1", "sweep-2"}
    assert all(run.tags == ["sweep"] and run.config["steps"] == 3 for run in found)
    assert [rule.goal for run in found for rule in run.rules] == ["min"] * 3


def test_a_paused_sweep_finishes_its_run_and_waits_until_it_is_resumed(folder: Folder) -> None:
    folder.write(parameters={"lr": [0.2, 0.9], "steps": 3})
    folder.monkeypatch.chdir(folder.path)
    runner = open_sweep(read_sweep(folder.path / "sweep.yaml"), folder.path / "stepscope-runs")
    where = runner.journal.folder
    set_paused(where, True)
    waited = 0

    def tick() -> None:
        nonlocal waited
        waited += not runner.running
        if waited == 5 and runner.is_paused:
            assert runner.trials == {}
            set_paused(where, False)

    runner.on_tick = tick
    runner.go()
    runner.journal.close()
    assert waited >= 5
    assert [trial.state for trial in runner.trials.values()] == ["finished", "finished"]


def test_a_finished_sweep_is_not_run_again_and_can_be_made_longer(folder: Folder) -> None:
    folder.write(method="random", seed=1, runs=2, parameters={"lr": {"min": 0.1, "max": 0.9}})
    folder.sweep()
    first = folder.lines("done.txt")
    again = folder.sweep()
    assert "2 of its runs are done" in again
    assert folder.lines("done.txt") == first
    folder.write(method="random", seed=1, runs=3, parameters={"lr": {"min": 0.1, "max": 0.9}})
    said = folder.sweep()
    assert "changed since the last start: runs: 2 -> 3" in said
    assert len(folder.lines("done.txt")) == 3
    # the third is what it would have been without a stop
    folder.sweep("--fresh")
    assert folder.lines("done.txt")[3:] == folder.lines("done.txt")[:3]


def test_kill_9_loses_nothing_and_repeats_no_finished_run(folder: Folder) -> None:
    folder.write(parameters={"lr": [0.1, 0.2, 0.3, 0.4], "pause": 0.15, "steps": 4}, parallel=2)
    process = folder.start()
    folder.wait_for(lambda: len(folder.lines("done.txt")) >= 1 and len(folder.lines("started.txt")) >= 3)
    process.kill()  # the runs go on, without anybody who waits for them
    process.communicate()
    said = folder.sweep()
    assert "continues" in said
    assert sorted(folder.lines("done.txt")) == ["0.1", "0.2", "0.3", "0.4"]
    assert states(folder) == dict.fromkeys(range(4), "finished")


def test_runs_that_died_with_the_sweep_are_run_again(folder: Folder) -> None:
    folder.write(parameters={"lr": [0.1, 0.2], "pause": 0.1, "steps": 8}, parallel=2)
    process = folder.start()
    folder.wait_for(lambda: len(folder.lines("started.txt")) == 2)
    process.kill()
    process.communicate()
    for pid in folder.pids():
        os.kill(pid, signal.SIGKILL)
    folder.sweep()
    assert sorted(folder.lines("done.txt")) == ["0.1", "0.2"]
    assert [one["attempts"] for one in folder.status()] == [2, 2]


def test_ctrl_c_stops_the_runs_politely_and_the_sweep_goes_on_later(folder: Folder) -> None:
    folder.write(parameters={"lr": [0.1, 0.2], "pause": 0.2, "steps": 200}, parallel=2)
    process = folder.start()
    folder.wait_for(lambda: len(folder.lines("started.txt")) == 2)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "resume with: stepscope sweep sweep.yaml" in said
    assert {run.status for run in runs(folder.path / "stepscope-runs")} == {"stopped"}
    assert set(states(folder).values()) == {"interrupted"}
    folder.write(parameters={"lr": [0.1, 0.2], "pause": 0.2, "steps": 2}, parallel=2)
    again = folder.sweep()
    assert "parameters.steps: 200 -> 2" in again
    assert "2 earlier runs have settings that are no longer tried" in again


def test_a_run_that_ignores_ctrl_c_is_ended_all_the_same(folder: Folder) -> None:
    folder.write(parameters={"lr": [0.1], "pause": 0.2, "steps": 500, "deaf": 1})
    process = folder.start()
    folder.wait_for(lambda: len(folder.lines("started.txt")) == 1)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)  # at once to SIGTERM
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 130, said
    assert not any(is_alive(pid, 0.0) for pid in folder.pids())


def test_crashes_are_retried_counted_and_told(folder: Folder) -> None:
    folder.write(parameters={"lr": [0.1, 0.2], "crash": 1}, retries=1)
    said = folder.sweep()
    assert "run 0 crashed, retrying" in said
    assert [(one["state"], one["attempts"], one["crashes"]) for one in folder.status()] == [("finished", 2, 1)] * 2


def test_a_crash_is_told_with_its_error_and_tried_again_when_asked(folder: Folder) -> None:
    folder.write(parameters={"lr": [0.1, 0.2], "crash": 1})
    said = folder.sweep(code=1)
    assert "RuntimeError: no luck with 0.2" in said
    assert "--retry-failed" in said
    assert states(folder) == {0: "failed", 1: "failed"}
    folder.sweep(code=1)  # not by itself
    assert folder.lines("done.txt") == []
    folder.sweep("--retry-failed")
    assert folder.lines("done.txt") == ["0.1", "0.2"]


def test_a_script_that_always_crashes_does_not_eat_the_whole_sweep(folder: Folder) -> None:
    folder.write(parameters={"lr": {"min": 0.1, "max": 0.9}, "crash": 9}, method="random", runs=50, parallel=2)
    said = folder.sweep(code=1)
    assert "runs have crashed and none has ended well" in said
    assert len(folder.lines("started.txt")) < 6


def test_a_diverged_run_is_stopped_and_says_why(folder: Folder) -> None:
    folder.write(parameters={"lr": [10.0], "steps": 600, "pause": 0.05}, early_stop={"diverged": 4})
    folder.sweep()
    first = folder.status()[0]
    assert first["state"] == "diverged"
    assert "loss NaN" in first["reason"]
    assert first["value"] is None or first["value"] == "NaN"
    run = next(run for run in runs(folder.path / "stepscope-runs") if run.name == "sweep-0")
    assert run.tags == ["sweep", "diverged"]
    assert "loss NaN" in run.alerts[0].text


def test_a_run_behind_the_others_is_pruned(folder: Folder) -> None:
    pytest.importorskip("optuna")
    folder.write(
        parameters={"lr": [0.9, 0.8, 0.1], "steps": 40, "pause": 0.05},
        early_stop={"pruner": "median", "after_runs": 2, "after_steps": 3},
    )
    folder.sweep()
    told = folder.status()
    assert [one["state"] for one in told] == ["finished", "finished", "pruned"]
    assert told[2]["reason"].endswith("by Optuna's MedianPruner")
    assert "0.1" not in folder.lines("done.txt")


def test_a_run_that_takes_too_long_is_ended(folder: Folder) -> None:
    folder.write(parameters={"lr": [0.1], "steps": 900, "pause": 0.1}, timeout="1s")
    folder.sweep()
    assert states(folder) == {0: "timeout"}


def test_the_sweep_ends_at_its_target_and_at_its_budget(folder: Folder) -> None:
    folder.write(parameters={"lr": [0.9, 0.5, 0.2]}, metric={"name": "loss", "goal": "min", "target": 0.5})
    said = folder.sweep()
    assert "loss has reached 0.5" in said
    assert folder.lines("done.txt") == ["0.9"]
    folder.write(parameters={"lr": [0.9, 0.5, 0.2]}, name="short", budget="0.1s", parallel=1)
    assert "the budget of 0.1 s is spent" in folder.sweep()


def test_a_metric_that_is_not_logged_is_named_with_those_that_are(folder: Folder) -> None:
    folder.write(parameters={"lr": [0.1]}, metric={"name": "val_loss", "goal": "min"})
    assert "no metric 'val_loss'; it logged loss" in folder.sweep()


def test_a_command_that_records_no_run_is_told_how_to_record_one(folder: Folder) -> None:
    folder.write(script=None, command="true", parameters={"lr": [0.2]})
    assert "it recorded no run; start it with `stepscope run`" in folder.sweep()


def test_the_last_line_of_a_short_output_is_the_reason_of_a_crash(tmp_path: Path) -> None:
    (tmp_path / "0.log").write_text("Traceback ...\nModuleNotFoundError: No module named 'torchh'\n")
    assert last_line(tmp_path / "0.log") == "ModuleNotFoundError: No module named 'torchh'"


def test_two_of_one_sweep_at_once_are_refused(folder: Folder) -> None:
    folder.write(parameters={"lr": [0.1], "steps": 9000, "pause": 0.1})
    process = folder.start()
    folder.wait_for(lambda: len(folder.lines("started.txt")) == 1)
    assert "this sweep is being run already" in folder.sweep(code=3)
    assert states(folder) == {0: "running"}
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=300)


def test_a_dry_run_prints_commands_and_touches_nothing(folder: Folder) -> None:
    folder.write(parameters={"lr": [0.1, 0.2]}, watch=True)
    said = folder.sweep("--dry-run")
    assert "python -m stepscope run train.py --lr=0.1\n" in said
    assert "2 commands" in said
    made: Any = json.loads(folder.sweep("--dry-run", "--json"))
    assert [one["params"] for one in made] == [{"lr": 0.1}, {"lr": 0.2}]
    assert sorted(path.name for path in folder.path.iterdir()) == ["sweep.yaml", "train.py"]


def test_another_metric_judges_the_runs_that_are_over(folder: Folder) -> None:
    folder.write(parameters={"lr": [0.9, 0.1]})
    folder.sweep()
    folder.write(parameters={"lr": [0.9, 0.1]}, metric={"name": "loss", "goal": "max", "of": "best"})
    said = folder.sweep()
    assert 'metric.goal: "min" -> "max"' in said
    assert [one["value"] for one in folder.status()] == pytest.approx([1.01, 1.81])
    assert "best: run 1" in said


def test_a_watched_script_that_knows_nothing_of_stepscope(folder: Folder) -> None:
    folder.write(
        parameters={"lr": [0.1], "deep.er": [3], "batch-norm": [True]},
        watch=True,
        metric={"name": "loss"},
        script="plain.py",
    )
    (folder.path / "plain.py").write_text("import sys; print(sys.argv[1:])")
    said = folder.sweep()
    assert "no metric 'loss'; it logged nothing" in said
    run = next(iter(runs(folder.path / "stepscope-runs")))
    assert run.config == {"lr": 0.1, "deep/er": 3, "batch_norm": True}
    assert (run.group, run.name, run.status) == ("sweep", "sweep-0", "finished")


def test_a_program_that_is_not_there_is_said_and_the_sweep_ends(folder: Folder) -> None:
    folder.write(command="no-such-program ${args}", parameters={"lr": [0.1, 0.2, 0.3, 0.4]})
    said = folder.sweep(code=1)
    assert "'no-such-program' cannot be started" in said
    assert states(folder) == dict.fromkeys(range(3), "failed")


def test_a_sweep_under_nohup_does_not_end_with_its_terminal(folder: Folder) -> None:
    folder.write(parameters={"lr": [0.1], "steps": 10, "pause": 0.1})
    handler = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = folder.start()
    finally:
        signal.signal(signal.SIGHUP, handler)
    folder.wait_for(lambda: len(folder.lines("started.txt")) == 1)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=300)
    assert process.returncode == 0
    assert states(folder) == {0: "finished"}


def test_a_run_whose_number_was_never_noted_is_found_again(folder: Folder) -> None:
    """Killed between starting the process and writing its number down."""
    folder.write(parameters={"lr": [0.1, 0.2], "beside": 2}, parallel=2)
    sweep = read_sweep(folder.path / "sweep.yaml")
    store = folder.path / "stepscope-runs"
    journal = Journal(folder_of(store, sweep.name))
    journal.open()
    params = {"lr": 0.1, "beside": 2}  # it cannot end before the sweep has taken it over and started the other
    journal.write("sweep", raw=sweep.raw, seed=0)
    journal.write("start", trial=0, attempt=1, params=params, slot=0, host=host_name(), boot_id=boot_id())
    journal.close()
    folder.monkeypatch.chdir(folder.path)
    command, environment = command_and_environment(sweep, Trial(0, params, attempt=1), store, journal.folder)
    with subprocess.Popen(command, env=environment, start_new_session=True):
        said = folder.sweep()
    assert "run 0 continues" in said
    assert sorted(folder.lines("done.txt")) == ["0.1", "0.2"]
    assert [one["attempts"] for one in folder.status()] == [1, 1]


def test_a_reader_that_goes_away_does_not_end_the_sweep(folder: Folder) -> None:
    folder.write(parameters={"lr": [0.1, 0.2, 0.3], "pause": 0.05})
    process = folder.start()
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()  # as `| head -1` does
    process.wait(timeout=300)
    assert folder.lines("done.txt") == ["0.1", "0.2", "0.3"]
    assert set(states(folder).values()) == {"finished"}
