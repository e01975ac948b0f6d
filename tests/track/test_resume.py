"""A resumed run is a new attempt of the same run: it goes on where the last one stopped, and tells what changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope.errors import Ambiguous, NotFound
from stepscope.records import ConfigUpdate
from stepscope.runs.format.layout import run_folders
from stepscope.runs.read.folder import RunFolder
from stepscope.track.run import Run

Reader = Callable[[Path], Any]


def start(store: Path, **options: Any) -> Run:
    return stepscope.init(dir=store, system=False, git=False, console=False, **options)


@pytest.fixture
def first(store: Path) -> Run:
    run = start(store, project="p", name="first", config={"lr": 0.1, "seed": 1, "token": "abc"}, tags=["a"])
    for step in range(10):
        run.log({"loss": 1.0 - step / 10})
    run.config.update({"seed": 2})
    run.finish()
    return run


def test_it_goes_on_after_the_last_step_as_a_new_attempt(store: Path, first: Run) -> None:
    run = start(store, resume=first.id)
    assert (run.id, run.attempt, run.name, run.project, list(run.tags)) == (first.id, 1, "first", "p", ["a"])
    run.log({"loss": 0.0})
    run.log({"loss": -0.1})
    run.finish()
    folder = RunFolder(run.path)  # type: ignore[arg-type]
    assert folder.series("loss").steps.tolist() == list(range(12))
    assert [attempt.attempt for attempt in folder.attempts] == [0, 1]


def test_only_settings_that_changed_are_recorded(store: Path, first: Run, recorded: Reader) -> None:
    run = start(store, resume=first.path, config={"lr": 0.01, "seed": 2, "token": "abc", "new": True}, tags=["b"])
    assert dict(run.config) == {"lr": 0.01, "seed": 2, "token": "abc", "new": True}
    assert list(run.tags) == ["a", "b"]
    run.finish()
    changes = [event.values for event in recorded(run.path).of(ConfigUpdate)]  # type: ignore[arg-type]
    assert changes == [{"seed": 2}, {"lr": 0.01, "new": True}]


def test_a_rewind_hides_what_comes_after_it(store: Path, first: Run) -> None:
    run = start(store, resume=first.id)
    run.rewind(5)
    for _ in range(3):
        run.log({"loss": 9.0})
    run.finish()
    series = RunFolder(run.path).series("loss")  # type: ignore[arg-type]
    assert series.steps.tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    assert series.values.tolist()[5:] == [9.0, 9.0, 9.0]


@pytest.mark.parametrize("how", ["path", "id", "prefix", "lower", "name", "str"])
def test_a_run_is_found_by(store: Path, first: Run, how: str) -> None:
    reference = {
        "path": first.path,
        "id": first.id,
        "prefix": first.id[:20],
        "lower": first.id[:20].lower(),
        "name": "first",
        "str": str(first.path),
    }[how]
    assert start(store, resume=reference).id == first.id


def test_a_run_that_is_not_there_is_an_error_at_once(store: Path, first: Run) -> None:
    with pytest.raises(NotFound, match="there is no run 'nonsense'"):
        start(store, resume="nonsense")
    assert stepscope.current() is None


def test_a_name_of_two_runs_is_an_error_that_names_them(store: Path, first: Run) -> None:
    second = start(store, project="p", name="first")
    second.finish()
    with pytest.raises(Ambiguous, match=first.id):
        start(store, resume="first")


def test_allow_continues_the_newest_of_that_name_or_starts_anew(store: Path, first: Run) -> None:
    assert start(store, project="p", name="first", resume="allow").id == first.id
    assert start(store, project="p", name="other", resume="allow").id != first.id
    assert len(run_folders(store)) == 2


def test_auto_continues_only_what_did_not_finish(store: Path, first: Run) -> None:
    second = start(store, project="p", name="first", resume="auto")
    assert second.id != first.id
    second.finish(status="preempted")
    third = start(store, project="p", name="first", resume="auto")
    assert (third.id, third.attempt) == (second.id, 1)


def test_a_killed_run_goes_on(store: Path, run_script: Callable[..., Any]) -> None:
    code = (
        "import os, sys, stepscope\n"
        "run = stepscope.init(project='p', resume='auto', system=False, git=False)\n"
        "for _ in range(3): run.log({'x': 1.0})\n"
        "if len(sys.argv) > 1: os._exit(1)\n"
    )
    run_script(code, "die")
    _done, runs = run_script(code)
    (run,) = runs
    assert run.points("x") == [(step, 1.0) for step in range(6)]
    assert sorted(header.attempt for header in run.headers) == [0, 1]


def test_torchrun_restarts_become_attempts(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "MASTER_PORT": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("stepscope.track.session._turn", 0)
    first = start(store)
    first.finish(status="failed")
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", "1")
    monkeypatch.setattr("stepscope.track.session._turn", 0)
    second = start(store)
    assert (second.id, second.attempt) == (first.id, 1)
