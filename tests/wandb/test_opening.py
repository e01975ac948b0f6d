from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import stepscope


def steps(run: Any, name: str) -> list[int]:
    return list(run.series(name).steps.tolist())


def test_a_run_by_id_goes_on_where_it_stopped(wandb: ModuleType, store: Path) -> None:
    run = wandb.init(project="p", id="abc", config={"lr": 1, "opt": {"name": "sgd"}}, entity="team", job_type="train")
    for at in range(3):
        run.log({"loss": at})
    run.finish()
    again = wandb.init(project="p", id="abc", resume="must", config={"lr": 2})
    assert (again.resumed, again.step, again.starting_step, again.id) == (True, 3, 3, "abc")
    assert (again.path, again.job_type) == ("team/p/abc", "train")
    assert dict(again.config) == {"lr": 2, "opt": {"name": "sgd"}}
    again.log({"loss": 9})
    again.finish()
    [read] = stepscope.runs(store)
    assert steps(read, "loss") == [0, 1, 2, 3]
    assert read.config["lr"] == 2


def test_allow_begins_and_goes_on(wandb: ModuleType, store: Path) -> None:
    for _ in range(2):
        with wandb.init(project="p", id="abc", resume="allow") as run:
            run.log({"x": 1})
    with wandb.init(project="p", resume="abc") as run:  # the old way of saying it
        run.log({"x": 1})
    assert steps(stepscope.runs(store)[0], "x") == [0, 1, 2]


def test_must_and_never_say_what_is_wrong(wandb: ModuleType) -> None:
    with pytest.raises(wandb.UsageError, match="there is no run 'abc'"):
        wandb.init(project="p", id="abc", resume="must")
    wandb.init(project="p", id="abc").finish()
    with pytest.raises(wandb.errors.UsageError, match="give another id"):
        wandb.init(project="p", id="abc", resume="never")


def test_the_same_id_again_is_a_new_run_which_is_the_one_meant_then(wandb: ModuleType, store: Path) -> None:
    wandb.init(project="p", id="abc").finish()
    wandb.init(project="p", id="abc").finish()
    newest = stepscope.runs(store)[0].path
    with wandb.init(project="p", id="abc", resume="allow") as run:
        assert Path(run.sync_dir) == newest
    assert len(stepscope.runs(store)) == 2


def test_a_run_goes_on_from_an_earlier_step(wandb: ModuleType, store: Path) -> None:
    with wandb.init(project="p", id="abc") as run:
        for at in range(10):
            run.log({"loss": at})
    with wandb.init(project="p", resume_from="abc?_step=4") as run:
        assert run.step == 5
        run.log({"loss": 100})
    read = stepscope.runs(store)[0]
    assert read.series("loss").values.tolist() == [0, 1, 2, 3, 4, 100]
    with pytest.raises(wandb.UsageError, match="_step=100"):
        wandb.init(resume_from="abc")


def test_an_open_run_comes_back_unless_told_otherwise(wandb: ModuleType, store: Path) -> None:
    first = wandb.init(project="p", name="first")
    assert wandb.init(project="other") is first
    second = wandb.init(project="p", name="second", reinit=True)
    assert first._run.is_finished
    assert wandb.run is second
    with pytest.raises(wandb.UsageError, match="reinit='sometimes'"):
        wandb.init(reinit="sometimes")
    second.finish()
    assert sorted(run.name for run in stepscope.runs(store)) == ["first", "second"]


def test_two_runs_side_by_side(wandb: ModuleType, store: Path) -> None:
    first = wandb.init(project="p", name="first")
    second = wandb.init(project="p", name="second", reinit="create_new")
    assert wandb.run is first
    for at in range(3):
        first.log({"a": at})
        second.log({"b": at}, step=10 * at)
    first.finish()
    second.log({"b": 9}, step=50)
    second.finish()
    found = {
        run.name: {name: steps(run, name) for name in run.metrics() if "/" not in name} for run in stepscope.runs(store)
    }
    assert found == {"first": {"a": [0, 1, 2]}, "second": {"b": [0, 10, 20, 50]}}
    assert "STEPSCOPE_RUN" not in os.environ


def test_variables_stand_in_for_arguments(wandb: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"PROJECT": "p", "NAME": "n", "RUN_GROUP": "g", "TAGS": "a, b", "NOTES": "x", "RUN_ID": "i", "JOB_TYPE": "j"}
    for name, value in told.items():
        monkeypatch.setenv(f"WANDB_{name}", value)
    run = wandb.init()
    assert (run.project, run.name, run.group, run.tags, run.notes) == ("p", "n", "g", ("a", "b"), "x")
    assert (run.id, run.job_type) == ("i", "j")


@pytest.mark.parametrize(("variable", "value"), [("WANDB_MODE", "disabled"), ("WANDB_DISABLED", "true")])
def test_recording_can_be_switched_off(
    wandb: ModuleType, store: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    run = wandb.init(project="p", config={"a": 1})
    run.log({"x": 1, "image": wandb.Image([[0, 1]])})
    run.log_artifact(wandb.Artifact("a", type="t"))
    wandb.save("nothing")
    assert (run.disabled, run.summary["x"], run.config.a) == (True, 1, 1)
    assert os.path.isdir(run.dir)
    run.finish()
    assert list(store.iterdir()) == []


@pytest.mark.parametrize("mode", ["online", "offline", "shared", "dryrun", "run"])
def test_every_other_mode_records(wandb: ModuleType, store: Path, mode: str) -> None:
    wandb.init(project="p", mode=mode).finish()
    assert len(stepscope.runs(store)) == 1


def test_a_mode_nobody_knows_is_named(wandb: ModuleType) -> None:
    with pytest.raises(wandb.UsageError, match="mode 'cloud' is unknown"):
        wandb.init(mode="cloud")


def test_settings_are_taken_and_some_acted_on(wandb: ModuleType, last: Callable[[], Any]) -> None:
    settings = wandb.Settings(start_method="thread", console="off", _disable_stats=True, run_name="s", init_timeout=9)
    with wandb.init(project="p", settings=settings) as run:
        assert (run.settings.start_method, run.settings.not_a_setting, run.name) == ("thread", None, "s")
        assert run._run._attendants._options.console is False
        assert run._run._attendants._options.system is False
    with wandb.init(project="p", settings={"run_name": "dict"}) as run:
        assert run.name == "dict"


def test_what_is_not_acted_on_is_said_once(wandb: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        wandb.init(project="p", monitor_gym=True)
    said = capsys.readouterr().err
    assert said.count("monitor_gym") == 1
    assert "wandb.Video" in said


def test_settings_from_a_file(wandb: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(json.dumps({"wandb_version": 1, "lr": {"desc": None, "value": 0.1}, "n": 2}))
    with wandb.init(project="p", config="c.json", config_include_keys=["lr"]) as run:
        assert dict(run.config) == {"lr": 0.1}
    with pytest.raises(wandb.UsageError, match=r"'no\.json' cannot be read"):
        wandb.init(config="no.json")
    with pytest.raises(wandb.UsageError, match="config is a int"):
        wandb.init(config=3)


def test_before_init_every_call_says_so(wandb: ModuleType) -> None:
    assert wandb.run is None
    for call in (
        lambda: wandb.log({"a": 1}),
        lambda: wandb.config.lr,
        lambda: wandb.config["lr"],
        lambda: wandb.summary.update({}),
        lambda: wandb.watch(None),
        lambda: wandb.define_metric("a"),
    ):
        with pytest.raises(wandb.Error, match=r"You must call wandb\.init\(\) before wandb\."):
            call()
    wandb.finish()


def test_the_old_way_of_setting_the_config(wandb: ModuleType, last: Callable[[], Any]) -> None:
    wandb.init(project="p", config={"lr": 1})
    wandb.config = {"lr": 2, "seed": 3}
    assert (wandb.config.lr, wandb.config.seed) == (2, 3)
    wandb.finish()
    assert last().config == {"lr": 2, "seed": 3}


def test_unknown_names_say_what_to_use(wandb: ModuleType) -> None:
    hints = {"fastai": "stepscope.integrations.fastai", "trigger": "public names", "nonsense": "wandb.md"}
    for name, advice in hints.items():
        with pytest.raises(AttributeError, match=advice):
            getattr(wandb, name)
    run = wandb.init(project="p")
    with pytest.raises(AttributeError, match=r"has no 'Run\.nonsense'"):
        run.nonsense()


SCRIPT = """
import os, signal, sys, time
import stepscope.wandb as wandb
run = wandb.init(project="p")
run.log({"a": 1}, step=1)
run.log({"a": 2}, step=2)
"""


def run_script(store: Path, more: str, code: int) -> Any:
    environment = {**os.environ, "STEPSCOPE_DIR": str(store), "OMP_NUM_THREADS": "1"}
    text = SCRIPT + textwrap.dedent(more)
    ran = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == code, ran.stderr
    return stepscope.runs(store)[0]


def test_a_script_that_just_ends_loses_nothing(wandb: ModuleType, store: Path) -> None:
    run = run_script(store, "", 0)
    assert (run.status, steps(run, "a")) == ("finished", [1, 2])


def test_a_script_that_fails_loses_nothing(wandb: ModuleType, store: Path) -> None:
    run = run_script(store, "raise ValueError('x')", 1)
    assert (run.status, steps(run, "a")) == ("failed", [1, 2])


def test_a_killed_script_loses_at_most_what_came_in_the_last_seconds(wandb: ModuleType, store: Path) -> None:
    wait = """
        import stepscope
        while len(stepscope.runs(os.environ["STEPSCOPE_DIR"])[0].series("a").values) < 2:
            time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGKILL)
        """
    run = run_script(store, wait, -9)
    assert steps(run, "a") == [1, 2]


def test_the_exit_code_says_how_it_ended(wandb: ModuleType, store: Path) -> None:
    wandb.init(project="p").finish(exit_code=3)
    assert stepscope.runs(store)[0].status == "failed"
    with pytest.raises(KeyError), wandb.init(project="p"):
        raise KeyError("x")
    assert stepscope.runs(store)[0].status == "failed"
    run = wandb.init(project="p")
    wandb.mark_preempting()
    run.finish()
    assert stepscope.runs(store)[0].status == "preempted"


def _in_a_child() -> None:
    import stepscope.wandb as wandb

    wandb.log({"child": 1})


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_logs_to_the_run_and_not_the_parents_row(wandb: ModuleType, store: Path) -> None:
    run = wandb.init(project="p")
    run.log({"parent": 1}, commit=False)
    child = multiprocessing.get_context("fork").Process(target=_in_a_child)
    child.start()
    child.join(300)
    assert child.exitcode == 0
    time.sleep(0.1)
    run.finish()
    read = stepscope.runs(store)[0]
    assert (len(read.series("parent").values), len(read.series("child").values)) == (1, 1)
