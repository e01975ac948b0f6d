"""What a sweep decides about a run reaches it, and a run beside the current one disturbs nothing."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import msgspec
import pytest

import stepscope
from stepscope.runs.read.folder import open_run
from stepscope.track.secondary_run import open_detached
from stepscope.track.sweep_assignment import VARIABLE, Assigned, assign


def opened(store: Path, **options: object) -> stepscope.Run:
    return stepscope.init(dir=store, console=False, system=False, git=False, **options)  # type: ignore[arg-type]


def test_a_sweeps_parameters_win_over_the_scripts_defaults(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    what = Assigned(
        group="lr", project="swept", name="lr-3", tags=["sweep"], config={"lr": 0.5, "model": {"width": 64}},
        goals={"loss": "min"}, note=str(store / "note"),
    )  # fmt: skip
    monkeypatch.setenv(VARIABLE, msgspec.json.encode(what).decode())
    with opened(store, config={"lr": 0.1, "model": {"width": 8, "depth": 2}}, tags=["mine"], group="other") as run:
        assert run.config["lr"] == 0.5
    assert run.path is not None
    folder = open_run(run.path)
    assert folder.config == {"lr": 0.5, "model/width": 64, "model/depth": 2}
    assert (folder.group, folder.project, folder.name) == ("lr", "swept", "lr-3")
    assert folder.tags == ["mine", "sweep"]
    assert [(rule.name, rule.goal) for rule in folder.rules] == [("loss", "min")]
    assert (store / "note").read_text() == f"{run.path}\n"


def test_the_scripts_own_name_and_project_stay(store: Path) -> None:
    assign(Assigned(name="lr-3", project="swept"))
    try:
        with opened(store, name="own", project="mine") as run:
            pass
    finally:
        assign(None)
    assert (run.name, run.project) == ("own", "mine")
    with opened(store) as after:
        assert after.name != "lr-3"


@pytest.mark.parametrize("text", ["{", '{"config": 5}', '{"goals": {"loss": "sideways"}}', "\udc80"])
def test_what_cannot_be_read_is_said_and_left_out(
    text: str, store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, text)
    with opened(store) as run:
        run.log({"loss": 1.0})
    assert run.path is not None
    assert open_run(run.path).series("loss").values.tolist() == [1.0]
    assert "STEPSCOPE_ASSIGNED cannot be read" in capsys.readouterr().err


def test_a_note_that_cannot_be_written_does_not_reach_the_script(store: Path) -> None:
    assign(Assigned(note=str(store / "no such folder" / "note")))
    try:
        with opened(store) as run:
            run.log({"loss": 1.0})
    finally:
        assign(None)
    assert run.path is not None
    assert open_run(run.path).status == "finished"


def test_detached_runs_stand_beside_the_current_one(store: Path) -> None:
    with opened(store) as current:
        before = dict(os.environ)
        beside = [open_detached(name=f"b{n}", group="g", config={"n": n}, dir=store, tags=["t"]) for n in range(3)]
        assert dict(os.environ) == before
        threads = [threading.Thread(target=run.log, args=({"x": n},)) for n, run in enumerate(beside)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        stepscope.log({"loss": 1.0})
        assert stepscope.current() is current
        for run in beside:
            run.finish()
        assert stepscope.current() is current
    assert current.path is not None
    assert open_run(current.path).metrics() == ["loss"]
    for n, run in enumerate(beside):
        assert run.path is not None
        folder = open_run(run.path)
        assert (folder.name, folder.group, folder.config, folder.status) == (f"b{n}", "g", {"n": n}, "finished")
        assert folder.series("x").values.tolist() == [n]


def test_a_detached_run_can_be_off(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSCOPE_MODE", "off")
    run = open_detached(dir=store)
    run.log({"x": 1})
    run.finish()
    assert run.path is None
    assert list(store.iterdir()) == []
