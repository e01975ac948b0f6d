"""Artifacts: files kept by content, versions that mean content, and nothing written where it should not be."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stepscope.errors import BadData, NotFound, UsageError
from stepscope.records import Artifact, ArtifactFile, RunMeta
from stepscope.runs.artifacts import choose, history, read_artifacts, restore
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.write.writer import RunWriter
from stepscope.track.artifacts import log_artifact


def open_writer(path: Path, **options: Any) -> RunWriter:
    return RunWriter(path, run_id=path.name, heartbeat_s=0, fsync_s=0, **options)


@pytest.fixture
def run(store: Path) -> Path:
    return create_run(store, RunMeta(id=new_run_id(), project="p", name="n", created=time.time()))


@pytest.fixture
def writer(run: Path) -> Iterator[RunWriter]:
    made = open_writer(run)
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "model"
    (made / "sub").mkdir(parents=True)
    (made / "weights.bin").write_bytes(b"w" * 1000)
    (made / "sub" / "config.json").write_text("{}")
    return made


def test_a_file_is_copied_hashed_and_comes_back(writer: RunWriter, run: Path, tmp_path: Path) -> None:
    path = tmp_path / "best.pt"
    path.write_bytes(b"weights")
    logged = log_artifact(writer, path, type="model", aliases="best", metadata={"acc": 0.9}, step=7)
    path.write_bytes(b"changed")
    [artifact] = read_artifacts(run)
    assert artifact == logged
    assert (artifact.name, artifact.version, artifact.type, artifact.step) == ("best.pt", 0, "model", 7)
    assert (artifact.aliases, artifact.metadata) == (["best"], {"acc": 0.9})
    assert artifact.files[0].sha256 == hashlib.sha256(b"weights").hexdigest()
    assert [p.read_bytes() for p in restore(run, artifact, tmp_path / "out")] == [b"weights"]


def test_a_folder_keeps_its_tree(writer: RunWriter, run: Path, folder: Path, tmp_path: Path) -> None:
    artifact = log_artifact(writer, folder)
    assert [(f.path, f.size, f.mime) for f in artifact.files] == [
        ("weights.bin", 1000, "application/octet-stream"),
        ("sub/config.json", 2, "application/json"),
    ]
    restore(run, artifact, tmp_path / "out")
    assert (tmp_path / "out" / "sub" / "config.json").read_text() == "{}"


def test_a_dict_of_files_and_bytes(writer: RunWriter, run: Path, folder: Path, tmp_path: Path) -> None:
    artifact = log_artifact(writer, {"a/w.bin": folder / "weights.bin", "note.txt": b"hi"}, name="mixed")
    written = restore(run, artifact, tmp_path / "out")
    assert [path.relative_to(tmp_path / "out").as_posix() for path in written] == ["a/w.bin", "note.txt"]
    assert written[1].read_bytes() == b"hi"


def test_the_same_content_keeps_its_version_and_new_content_gets_the_next(writer: RunWriter, run: Path) -> None:
    contents = [b"a", b"a", b"b", b"a", b"c"]
    versions = [log_artifact(writer, {"f": content}, name="model").version for content in contents]
    assert versions == [0, 0, 1, 0, 2]
    assert log_artifact(writer, {"f": b"a"}, name="other").version == 0
    assert len(list((run / "blobs").iterdir())) == 3
    assert [a.version for a in history(read_artifacts(run), "model")] == [0, 1, 2]


def test_the_order_of_files_does_not_matter_but_their_names_do(writer: RunWriter) -> None:
    first = log_artifact(writer, {"x": b"1", "y": b"2"}, name="n")
    assert log_artifact(writer, {"y": b"2", "x": b"1"}, name="n").version == first.version
    assert log_artifact(writer, {"y": b"1", "x": b"2"}, name="n").version == 1


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_resumed_run_goes_on_counting(run: Path, elsewhere: bool) -> None:
    script = f"""
from pathlib import Path
from stepscope.runs.write.writer import RunWriter
from stepscope.track.artifacts import log_artifact
run = Path({str(run)!r})
writer = RunWriter(run, run_id=run.name, heartbeat_s=0, fsync_s=0)
print([log_artifact(writer, {{"f": content}}, name="model").version for content in (b"a", b"b")])
writer.close()
"""
    if elsewhere:
        subprocess.run([sys.executable, "-c", script], check=True, timeout=300)
    else:
        exec(script, {})
    writer = open_writer(run, attempt=1)
    assert log_artifact(writer, {"f": b"b"}, name="model").version == 1
    assert log_artifact(writer, {"f": b"c"}, name="model").version == 2
    writer.close()


def test_a_name_can_mean_a_version_or_an_alias(writer: RunWriter, run: Path) -> None:
    for content, aliases in ((b"a", ["best"]), (b"b", ["best", "x"]), (b"c", [])):
        log_artifact(writer, {"f": content}, name="model", aliases=aliases)
    artifacts = read_artifacts(run)
    versions = {tag: choose(artifacts, tag).version for tag in ("model", "model:latest", "model:v0", "model:best")}
    assert versions == {"model": 2, "model:latest": 2, "model:v0": 0, "model:best": 1}
    with pytest.raises(NotFound, match="no artifact 'data'; there are: model"):
        choose(artifacts, "data:v1")
    with pytest.raises(NotFound, match="no version or alias 'v9'; it has latest, best, v0, v1, v2, x"):
        choose(artifacts, "model:v9")


def test_references_are_noted_and_not_copied(writer: RunWriter, run: Path, folder: Path, tmp_path: Path) -> None:
    artifact = log_artifact(writer, folder, reference=True)
    assert artifact.files[0].reference == str((folder / "weights.bin").resolve())
    assert artifact.files[0].sha256 == hashlib.sha256(b"w" * 1000).hexdigest()
    assert not (run / "blobs").exists()
    assert restore(run, artifact, tmp_path / "out") == []
    url = log_artifact(writer, "s3://bucket/data.tar", reference=True)
    assert (url.name, url.files[0].path, url.files[0].reference) == ("data.tar", "data.tar", "s3://bucket/data.tar")


def test_links_that_leave_and_pipes_are_left_out_and_named(writer: RunWriter, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("no")
    (folder / "out").symlink_to(tmp_path / "secret.txt")
    (folder / "etc").symlink_to("/etc")
    (folder / "loop").symlink_to(folder)
    (folder / "dangling").symlink_to(folder / "nothing")
    (folder / "inside").symlink_to(folder / "weights.bin")
    os.mkfifo(folder / "pipe")
    artifact = log_artifact(writer, folder)
    assert sorted(file.path for file in artifact.files) == ["inside", "sub/config.json", "weights.bin"]
    assert sorted(entry.split(" (")[0] for entry in artifact.metadata["skipped"]) == [
        "dangling",
        "etc",
        "loop",
        "out",
        "pipe",
    ]


@pytest.mark.skipif(os.name == "nt", reason="names are unicode there")
def test_a_name_that_is_no_text_is_left_out(writer: RunWriter, folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe")).write_bytes(b"x")
    (folder / "back\\slash").write_bytes(b"x")
    artifact = log_artifact(writer, folder)
    assert (len(artifact.files), len(artifact.metadata["skipped"])) == (2, 2)


def test_secrets_in_metadata_and_names_are_masked(writer: RunWriter, run: Path) -> None:
    artifact = log_artifact(writer, {"f": b"x"}, name="m", metadata={"api_key": "sk-abcdefghijklmnop1234567890"})
    assert "sk-abc" not in str(artifact)


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("no-such-file", {}, "there is no such file"),
        ("/dev/zero", {}, "a device, pipe or socket"),
        (5, {}, "cannot be made from a int"),
        ({}, {"name": "n"}, "an empty dict"),
        ({"a": b""}, {}, "needs a name"),
        ({"a": 5}, {"name": "n"}, "'a' of the artifact is a int"),
        ({"../a": b""}, {"name": "n"}, "cannot be the path"),
        ({"/a": b""}, {"name": "n"}, "cannot be the path"),
        ({"a//b": b""}, {"name": "n"}, "cannot be the path"),
        ({"C:/b": b""}, {"name": "n"}, "cannot be the path"),
        ({"a\0b": b""}, {"name": "n"}, "cannot be the path"),
        ({"a\\..\\b": b""}, {"name": "n"}, "cannot be the path"),
        ({"a": b"12345"}, {"name": "n", "max_bytes": 4}, "5 bytes, more than the 4"),
        ({"a": b""}, {"name": "a:b"}, "cannot be an artifact's name"),
        ({"a": b""}, {"name": "\x1b]52;"}, "cannot be an artifact's name"),
        ({"a": b""}, {"name": ""}, "cannot be an artifact's name"),
        ("https://example.org/x", {}, "pass reference=True"),
    ],
)
def test_what_is_wrong_is_said(writer: RunWriter, source: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        log_artifact(writer, source, **options)


def test_an_empty_folder_is_refused(writer: RunWriter, tmp_path: Path) -> None:
    (tmp_path / "empty" / "er").mkdir(parents=True)
    with pytest.raises(UsageError, match="no files to store"):
        log_artifact(writer, tmp_path / "empty")


def forged(*paths: str, sha256: str = "0" * 64) -> Artifact:
    files = [ArtifactFile(path=path, sha256=sha256, size=1) for path in paths]
    return Artifact(time=0.0, name="evil", version=0, digest="", files=files)


@pytest.mark.parametrize("path", ["../x", "/tmp/x", "a/../../x", "C:\\x", "", ".", "a/./b", "x\0y"])
def test_restore_never_leaves_its_folder(run: Path, tmp_path: Path, path: str) -> None:
    with pytest.raises(BadData, match="has an unsafe record"):
        restore(run, forged(path), tmp_path / "dest" / "inner")
    assert list((tmp_path / "dest" / "inner").iterdir()) == []


def test_restore_follows_no_link_out_of_its_folder(writer: RunWriter, run: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "dest").mkdir()
    (tmp_path / "dest" / "a").symlink_to(tmp_path / "outside")
    artifact = log_artifact(writer, {"a/b/f": b"x"}, name="n")
    with pytest.raises(BadData, match="symbolic link"):
        restore(run, artifact, tmp_path / "dest")
    assert list((tmp_path / "outside").iterdir()) == []


def test_restore_checks_what_it_writes(writer: RunWriter, run: Path, tmp_path: Path) -> None:
    artifact = log_artifact(writer, {"f": b"good"}, name="n")
    blob = run / "blobs" / artifact.files[0].sha256
    blob.write_bytes(b"evil")
    with pytest.raises(BadData, match="is damaged"):
        restore(run, artifact, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []
    blob.unlink()
    with pytest.raises(NotFound, match="is missing"):
        restore(run, artifact, tmp_path / "out")
    with pytest.raises(UsageError, match="is not a SHA-256"):
        restore(run, forged("f", sha256="../../../etc/passwd"), tmp_path / "out")


def test_restore_overwrites_only_when_told(writer: RunWriter, run: Path, tmp_path: Path) -> None:
    artifact = log_artifact(writer, {"f": b"new", "d/e": b"x"}, name="n")
    (tmp_path / "f").write_bytes(b"old")
    with pytest.raises(UsageError, match="exists already"):
        restore(run, artifact, tmp_path)
    restore(run, artifact, tmp_path, overwrite=True)
    assert (tmp_path / "f").read_bytes() == b"new"
    with pytest.raises(UsageError, match="is a file where a folder is needed"):
        restore(run, log_artifact(writer, {"f/g": b"x"}, name="m"), tmp_path)
