from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import stepscope


def logged(wandb: ModuleType, text: str, aliases: list[str] | None = None, project: str = "p") -> None:
    with wandb.init(project=project) as run:
        artifact = wandb.Artifact("model", type="model", metadata={"text": text}, description="d")
        with artifact.new_file("weights/w.txt") as stream:
            stream.write(text)
        run.log_artifact(artifact, aliases=aliases)


def read(folder: str) -> str:
    return (Path(folder) / "weights" / "w.txt").read_text()


def test_versions_count_over_the_runs_of_a_project(wandb: ModuleType, tmp_path: Path) -> None:
    logged(wandb, "one")
    logged(wandb, "two", ["best"])
    logged(wandb, "three")
    logged(wandb, "one")  # the same content keeps its version
    with wandb.init(project="p") as run:
        assert read(run.use_artifact("model:v1").download()) == "two"
        assert read(run.use_artifact("model:best", type="model").download()) == "two"
        assert read(run.use_artifact("team/p/model:v2").download(root=tmp_path / "here")) == "three"
        newest = run.use_artifact("model")
        assert (newest.version, newest.name, newest.metadata, newest.description) == (
            "v0", "model:v0", {"text": "one"}, "d",
        )  # fmt: skip
        assert newest.file("out").endswith("weights/w.txt")
        assert newest.logged_by().project == "p"


def test_the_digest_before_logging_is_the_one_after(wandb: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_text("weights")
    artifact = wandb.Artifact("a", type="t")
    empty = artifact.digest
    artifact.add_file(str(tmp_path / "w.txt"))
    artifact.add(wandb.Table(columns=["x"], data=[[1]]), "table")
    artifact.add_reference("s3://bucket/data")
    before = artifact.digest
    with wandb.init(project="p") as run:
        run.log_artifact(artifact)
    assert before == artifact.digest != empty


def test_what_is_not_there_is_named_with_what_is(wandb: ModuleType) -> None:
    logged(wandb, "one", ["best"])
    run = wandb.init(project="p")
    with pytest.raises(wandb.CommError, match=r"was not found in project 'p'.*there are: model"):
        run.use_artifact("data")
    with pytest.raises(wandb.CommError, match="has no 'worst'; it has latest, best, v0"):
        run.use_artifact("model:worst")
    with pytest.raises(ValueError, match="Expected artifact type dataset, got model"):
        run.use_artifact("model", type="dataset")
    with pytest.raises(wandb.CommError):
        run.use_artifact("other/model")


def test_a_file_is_taken_as_it_was_when_it_was_added(wandb: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "w.txt"
    path.write_text("then")
    artifact = wandb.Artifact("a", type="t")
    artifact.add_file(str(path), name="weights/w.txt")
    path.write_text("now")
    run = wandb.init(project="p")
    assert run.log_artifact(artifact) is artifact
    assert read(artifact.download()) == "then"
    assert (artifact.state, artifact.file_count, artifact.size) == ("COMMITTED", 1, 4)
    with pytest.raises(wandb.UsageError, match="is already logged"):
        artifact.add_file(str(path))


def test_folders_references_and_values(wandb: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "data" / "deep").mkdir(parents=True)
    (tmp_path / "data" / "a.txt").write_text("a")
    (tmp_path / "data" / "deep" / "b.txt").write_text("b")
    near = tmp_path / "near.bin"
    near.write_bytes(b"near")
    artifact = wandb.Artifact("a", type="t")
    artifact.add_dir("data", name="inner")
    artifact.add_reference("s3://bucket/far.bin")
    artifact.add_reference(f"file://{near}", name="near.bin")
    table = wandb.Table(columns=["x", "y"], data=[[1, "a"], [2, None]])
    artifact.add(table, "table")
    artifact["picture"] = wandb.Image(np.zeros((2, 3), np.uint8))
    with wandb.init(project="p") as run:
        run.log_artifact(artifact).wait()
        found = run.use_artifact("a")
        assert sorted(found.manifest.entries) == [
            "far.bin", "inner/a.txt", "inner/deep/b.txt", "near.bin", "picture.png", "table.table.json",
        ]  # fmt: skip
        assert found.get_path("far.bin").ref == "s3://bucket/far.bin"
        assert found.get("table") == table
        assert found.get("picture").width == 3
        assert found.get("nothing") is None
        folder = Path(found.download())
        assert (folder / "near.bin").read_bytes() == b"near"
        assert not (folder / "far.bin").exists()
        found.verify()
        with pytest.raises(KeyError, match="it has"):
            found.get_entry("no.txt")


def test_a_path_is_an_artifact_too(wandb: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "m.pt").write_text("m")
    with wandb.init(project="p") as run:
        assert run.log_artifact("m.pt").name.startswith("run-")
        assert wandb.log_artifact("m.pt", name="best", type="model").type == "model"
        run.log_model("m.pt", name="kept")
        assert Path(run.use_model("kept:latest")).read_text() == "m"
        linked = run.link_artifact(run.use_artifact("best"), "registry/collection", aliases=["prod"])
        assert run.use_artifact("collection:prod").digest == linked.digest


@pytest.mark.parametrize("name", ["../out", "/etc/passwd", "a/../../b", "C:\\x", ""])
def test_no_file_leads_out_of_an_artifact(wandb: ModuleType, tmp_path: Path, name: str) -> None:
    (tmp_path / "f").write_text("x")
    artifact = wandb.Artifact("a", type="t")
    if name == "":
        assert artifact.add_file("f", name=name).path == "f"
    else:
        with pytest.raises(stepscope.StepscopeError, match="cannot be the path"):
            artifact.add_file("f", name=name)


def test_an_artifact_without_files_keeps_its_notes(wandb: ModuleType, store: Path) -> None:
    with wandb.init(project="p") as run:
        run.log_artifact(wandb.Artifact("notes", type="t", metadata={"score": 1}))
    [record] = stepscope.runs(store)[0].artifacts
    assert (record.name, record.metadata) == ("notes", {"score": 1})


def test_staged_files_are_gone_with_the_artifact(wandb: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    artifact = wandb.Artifact("a", type="t")
    artifact.add_file("f")
    staged = artifact._staging
    assert os.listdir(staged) == ["0-f"]
    del artifact
    assert not staged.exists()


def test_a_hostile_name_leads_nowhere(wandb: ModuleType, tmp_path: Path) -> None:
    with wandb.init(project="p") as run:
        run._run.log_artifact({"f.txt": b"x"}, "../../../evil")
        [artifact] = wandb.Api().run(run.id).logged_artifacts()
        assert Path(artifact.download()).parent == tmp_path / "artifacts"
