"""MLflow's stores as they are met in the wild: half-written, moved, with files that are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stepscope.importers import mlflow
from stepscope.importers.import_writer import Landing
from stepscope.runs.catalogue.run_list import runs
from stepscope.runs.read.folder import RunFolder

RUN = "0123456789abcdef0123456789abcdef"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c63600000000200014"
    "8afa4710000000049454e44ae426082"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A file store with one run, as MLflow 2 writes it."""
    run = tmp_path / "mlruns" / "7" / RUN
    for part in ("metrics/val", "params", "tags", "artifacts/images"):
        (run / part).mkdir(parents=True)
    (tmp_path / "mlruns" / "7" / "meta.yaml").write_text("experiment_id: '7'\nname: digits\nlifecycle_stage: active\n")
    write_meta(run, status=3, end_time=1_700_000_100_000)
    (run / "metrics" / "loss").write_text("1700000000000 0.5 0\n1700000001000 nan 1\n1700000002000 -inf 2\n")
    (run / "metrics" / "val" / "acc").write_text("1700000000000 0.25 0\n")
    (run / "params" / "lr").write_text("0.1")
    (run / "tags" / "mlflow.note.content").write_text("the notes")
    (run / "artifacts" / "images" / "a#b%step%4%timestamp%1700000001500%0000-1.png").write_bytes(PNG)
    return tmp_path


def write_meta(run: Path, **fields: Any) -> None:
    known = {"run_id": RUN, "run_name": "one", "start_time": 1_700_000_000_000, "lifecycle_stage": "active"}
    lines = [f"{name}: {value}" for name, value in {**known, "artifact_uri": "file:///gone/away", **fields}.items()]
    (run / "meta.yaml").write_text("\n".join(lines) + "\n")


def look(folder: Path) -> tuple[RunFolder, Any]:
    source = mlflow.find(folder)
    assert source is not None
    (folder / "store").mkdir(exist_ok=True)
    landed = Landing(source, folder / "store").look()
    (run,) = runs(folder / "store")
    return run, landed


def test_a_moved_store_has_its_artifacts_beside_it(folder: Path) -> None:
    run, landed = look(folder)
    assert landed.troubles == []
    assert (run.project, run.name, run.notes, run.config, run.status) == (
        "digits",
        "one",
        "the notes",
        {"lr": 0.1},
        "finished",
    )
    assert [str(value) for value in run.series("loss").values] == ["0.5", "nan", "-inf"]
    assert run.series("val/acc").times.tolist() == [1_700_000_000.0]
    (picture,) = run.media("a/b")
    assert (picture.step, picture.kind, run.media_bytes(picture)) == (4, "image", PNG)


def test_a_line_without_its_end_is_read_later(folder: Path) -> None:
    metric = folder / "mlruns" / "7" / RUN / "metrics" / "loss"
    with metric.open("a") as stream:
        stream.write("1700000003000 0.12")
    run, landed = look(folder)
    assert len(run.series("loss")) == 3
    with metric.open("a") as stream:
        stream.write("5 3\nrubbish\n1700000004000 1e400 4\n")
    run, landed = look(folder)
    assert run.series("loss").values.tolist()[3:] == [0.125, float("inf")]
    assert landed.troubles == [f"{metric}: 1 lines are not 'time value step' and were skipped"]
    assert landed.points == 2


def test_deleted_and_damaged_runs_are_left_out(folder: Path) -> None:
    other = folder / "mlruns" / "7" / "deleted"
    other.mkdir()
    write_meta(other, run_id="x", lifecycle_stage="deleted")
    damaged = folder / "mlruns" / "7" / "damaged"
    damaged.mkdir()
    (damaged / "meta.yaml").write_text("{: [")
    (folder / "mlruns" / "models").mkdir()
    run, landed = look(folder)
    assert run.name == "one"
    assert landed.troubles == [f"{damaged / 'meta.yaml'} cannot be read; the run was skipped"]


def test_a_run_that_mlflow_still_calls_running_has_failed(folder: Path) -> None:
    write_meta(folder / "mlruns" / "7" / RUN, status=1, end_time="null")
    run, _ = look(folder)
    assert run.status == "failed"
    assert run.ended == pytest.approx(1_700_000_002.0, abs=1e-3)


def test_other_databases_and_folders_are_none(tmp_path: Path) -> None:
    import sqlite3

    assert mlflow.find(tmp_path) is None
    (tmp_path / "broken.db").write_bytes(b"SQLite format 3\0 and then nothing")
    with sqlite3.connect(tmp_path / "other.db") as database:
        database.execute("CREATE TABLE runs (x)")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "meta.yaml").write_text("name: something else\n")
    assert mlflow.find(tmp_path) is None
