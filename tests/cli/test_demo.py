"""The demo plays its story through the commands a user has, goes on where it stopped, and never trains twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

import stepscope
from stepscope.cli import _demo_forks
from stepscope.cli.demo import command
from stepscope.demo.stage import Outcome, Stage
from stepscope.demo.story import QUICK, STORY, Act

ACTS = [act for chain in STORY for act in chain]


def played(stage: Stage, *chains: list[Act]) -> list[Outcome]:
    outcomes: list[Outcome] = []
    stage.play(list(chains), lambda act: None, outcomes.append)
    return outcomes


def version(title: str = "version", *, fails: bool = False) -> Act:
    """A command that needs no torch."""
    return Act(title, ("--version",), fails=fails, fresh=True)


def test_every_title_is_its_own() -> None:
    assert len({act.title for act in ACTS}) == len(ACTS)
    assert {act.title for act in ACTS} >= QUICK


def test_every_script_and_every_edit_fits_the_examples(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "demo")
    stage.set_up()
    text = (stage.folder / "vae.py").read_text()
    for act in ACTS:
        files = [word for word in act.command if word.endswith((".py", ".yaml", ".md"))]
        assert len(files) == 1
        assert (stage.folder / files[0]).is_file()
        for old, new in act.edits:
            assert text.count(old) == 1
            text = text.replace(old, new)


def test_scripts_that_were_changed_are_left_alone(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "demo")
    stage.set_up()
    (stage.folder / "vae.py").write_text("mine")
    Stage(tmp_path / "demo").set_up()
    assert (stage.folder / "vae.py").read_text() == "mine"


def test_what_was_played_is_not_played_again_and_what_failed_is(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "demo")
    stage.set_up()
    chain = [version("first"), version("second", fails=True), version("third")]
    outcomes = played(stage, chain)
    assert [bool(one.trouble) for one in outcomes] == [False, True, False]
    assert "stepscope, version" in outcomes[1].trouble
    assert [[act.title for act in left] for left in Stage(stage.folder).left_of([tuple(chain)])] == [["second"]]


def test_a_demo_that_is_stopped_starts_nothing_more(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "demo")
    stage.set_up()
    waits = Act("waits", ("tail", "nothing", "--help"))
    started = threading.Event()
    stage.stop()
    stage.play([[waits]], lambda act: started.set(), lambda outcome: None)
    assert not started.is_set()


INTERRUPTED = """
import os, signal, sys, threading
from pathlib import Path
from stepscope.demo.stage import Stage
from stepscope.demo.story import Act

signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored where a shell runs the tests in the background
stage = Stage(Path(sys.argv[1]))
stage.set_up()
(stage.folder / "waits.py").write_text("import time\\nopen('begun', 'w').close()\\ntime.sleep(600)\\n")
over = threading.Event()

def interrupt():
    while not over.wait(0.1):
        if (stage.folder / "begun").exists():
            return os.kill(os.getpid(), signal.SIGINT)

presses = threading.Thread(target=interrupt)
presses.start()
try:
    stage.play([[Act("waits", ("run", "waits.py"), fresh=True)]], print, lambda outcome: print(outcome.trouble))
except KeyboardInterrupt:
    print("interrupted")
finally:
    over.set()
"""


@pytest.mark.skipif(not _demo_forks.FORKS, reason="no signals to groups here")
def test_ctrl_c_ends_what_runs(tmp_path: Path) -> None:
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "demo")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.stdout.splitlines()[-1:] == ["interrupted"], done.stderr


def test_a_missing_package_is_named_with_its_install_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    done = CliRunner().invoke(command, ["--dir", str(tmp_path / "demo"), "--no-ui"])
    assert "pip install 'stepscope[demo]'" in str(done.exception)
    assert not (tmp_path / "demo").exists()


def test_a_dry_run_prints_the_commands_and_makes_nothing(tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["--dir", str(tmp_path / "demo"), "--dry-run"])
    assert done.output.splitlines() == [" ".join(("stepscope", *act.command)) for act in ACTS]
    assert not (tmp_path / "demo").exists()


SWEEP = """\
script: train.py
metric: {name: loss, goal: min}
runs: 2
parameters: {lr: [0.1, 0.2]}
"""
TRAIN = """\
import sys
import stepscope
with stepscope.init(project="p", system=False, git=False) as run:
    run.log({"loss": float(sys.argv[1].partition("=")[2])})
"""


PLAYER = "from stepscope.cli import _demo_forks as forks; forks._import_all = lambda: None; forks.main()"


@pytest.mark.skipif(not _demo_forks.FORKS, reason="no forks here")
def test_the_runs_of_a_sweep_are_forks_and_recorded_as_usual(tmp_path: Path) -> None:
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    (tmp_path / "train.py").write_text(TRAIN)
    environment = {**os.environ, "STEPSCOPE_DIR": str(tmp_path / "runs")}
    request = {"words": ["sweep", "sweep.yaml", "--runs", "2"], "environment": environment, "fresh": False}
    # In a process of its own: a fork of this one would have the locks of whatever was tested before.
    done = subprocess.run(
        [sys.executable, "-c", PLAYER], input=json.dumps(request) + "\n", cwd=tmp_path, capture_output=True, text=True,
        timeout=200,
    )  # fmt: skip
    answer = json.loads(done.stdout)
    assert answer["code"] == 0, answer["output"]
    found = {run.meta.command[-1]: run for run in stepscope.runs(tmp_path / "runs")}
    assert {word: run.status for word, run in found.items()} == {"--lr=0.1": "finished", "--lr=0.2": "finished"}
    assert found["--lr=0.1"].meta.command[1:5] == ["-m", "stepscope", "run", "train.py"]
    assert found["--lr=0.1"].config["lr"] == 0.1


@pytest.mark.slow
def test_the_quick_demo_finds_the_bugs_of_its_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSCOPE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "demo"
    done = CliRunner().invoke(command, ["--dir", str(folder), "--no-ui", "--quick"])
    assert done.exit_code == 0, done.output
    runs = {run.name: run for run in stepscope.runs(folder / "stepscope-runs")}
    assert {name: run.status for name, run in runs.items()} == {"vae-crashes": "failed", "vae-learns-badly": "finished"}
    rules = {name: {finding.rule for finding in run.findings} for name, run in runs.items()}
    assert "shape.linear-in" in rules["vae-crashes"]
    assert rules["vae-learns-badly"] == {"device.new-tensor-cpu", "math.reparam-std", "opt.no-zero-grad"}
    command_line = runs["vae-crashes"].meta.command
    words = ["-m", "stepscope", "run", "--project", "vae-debugging", "vae.py", "--epochs", "8"]
    assert command_line[1:] == words  # as from a shell, not a fork
    again = CliRunner().invoke(command, ["--dir", str(folder), "--no-ui", "--quick"])
    assert (again.exit_code, len(stepscope.runs(folder / "stepscope-runs"))) == (0, 2)
