"""`stepscope import` and `stepscope export --tensorboard` as one types them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from stepscope.cli.main import main
from stepscope.eventfiles import write
from stepscope.runs.catalogue.run_list import runs


def make_log(folder: Path, count: int = 5, start: int = 0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    steps = np.arange(start, start + count)
    data = write.scalars("loss", steps, time.time() + steps / 1000, steps / 4)
    with (folder / "events.out.tfevents.1").open("ab") as out:
        out.write((b"" if start else write.version(time.time())) + data)


def test_it_says_what_came_and_what_to_do_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STEPSCOPE_DIR", raising=False)
    make_log(Path("logs/a"))
    make_log(Path("logs/b"))
    main(["import", "logs", "--project", "vae"])
    first, kept, look = capsys.readouterr().out.splitlines()
    assert first == "TensorBoard in logs: 2 new runs, 10 points"
    assert kept.startswith("Stored in stepscope-runs, in ")
    assert look == "Look at them with: stepscope ui stepscope-runs"
    assert {run.project for run in runs("stepscope-runs")} == {"vae"}
    make_log(Path("logs/a"), 3, start=5)
    main(["import", "logs", "--project", "vae"])
    assert capsys.readouterr().out.splitlines()[0] == "TensorBoard in logs: 1 run that grew, 3 points"
    main(["import", "logs"])
    assert capsys.readouterr().out == "TensorBoard in logs: nothing new\n"


def test_json_is_one_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_log(tmp_path / "logs")
    main(["import", str(tmp_path / "logs"), "--into", str(tmp_path / "store"), "--json"])
    found = json.loads(capsys.readouterr().out)
    (source,) = found["sources"]
    assert (source["kind"], source["new_runs"], source["points"], source["troubles"]) == ("tensorboard", 1, 5, [])
    assert Path(source["runs"][0]["path"]).is_dir()


def test_a_path_that_holds_no_runs_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["import", str(tmp_path), "--into", str(tmp_path / "store")])
    assert end.value.code == 3
    assert "has no runs of TensorBoard (events.out.tfevents.*)" in capsys.readouterr().err
    assert not (tmp_path / "store").exists()


def test_following_ends_with_ctrl_c_and_ends_the_runs(tmp_path: Path) -> None:
    make_log(tmp_path / "logs")
    command = [
        sys.executable,
        "-m",
        "stepscope",
        "import",
        str(tmp_path / "logs"),
        "--into",
        str(tmp_path / "s"),
        "--follow",
    ]
    env = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env) as process:
        assert process.stdout is not None
        assert process.stdout.readline().endswith("1 new run, 5 points\n")
        make_log(tmp_path / "logs", 2, start=5)
        said = next(line for line in process.stdout if "2 points" in line)
        assert said
        (run,) = runs(tmp_path / "s")
        assert run.status == "running"
        process.send_signal(signal.SIGINT)
        assert process.stdout.read().endswith("Stopped.\n")
        assert process.wait(300) == 0
    (run,) = runs(tmp_path / "s")
    assert (run.status, len(run.series("loss").values)) == ("finished", 7)


def test_runs_go_to_tensorboard_and_come_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        make_log(tmp_path / "logs" / name)
    main(["import", str(tmp_path / "logs"), "--into", str(tmp_path / "one")])
    capsys.readouterr()
    main(["export", "a", "b", "--dir", str(tmp_path / "one"), "--tensorboard", str(tmp_path / "tb")])
    assert "5 points, 0 media of 'a'" in capsys.readouterr().err
    main(["import", str(tmp_path / "tb"), "--into", str(tmp_path / "two")])
    first, second = ({run.name: run for run in runs(tmp_path / store)} for store in ("one", "two"))
    assert sorted(first) == sorted(second) == ["a", "b"]
    for name in first:
        for column in ("steps", "times", "values"):
            one, other = (getattr(found[name].series("loss"), column) for found in (first, second))
            np.testing.assert_array_equal(one, other)
    with pytest.raises(SystemExit) as end:
        main(["export", "a", "--dir", str(tmp_path / "one"), "--tensorboard", str(tmp_path / "tb")])
    assert end.value.code == 3
    assert "already has event files" in capsys.readouterr().err
