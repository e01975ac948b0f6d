"""Files of a run: artifacts by version, their files listed, shown and saved, and the run's own folder."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope.errors import BadData, NotFound, UsageError
from stepscope.records import Artifact, ArtifactFile
from stepscope.runs.format.blobs import put_bytes
from stepscope.views.context import Context
from stepscope.views.files.artifacts import (
    ArtifactFileRequest,
    ArtifactPreviewRequest,
    ArtifactRequest,
    ArtifactZipRequest,
    artifact,
    artifact_file,
    artifact_preview,
    artifact_zip,
)
from stepscope.views.files.files import ArtifactDiffRequest, FilesRequest, artifact_diff, files
from stepscope.views.files.lineage import LineageRequest, lineage

from .conftest import write_run

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


def kept(store: Path, *versions: dict[str, bytes], **more: Any) -> str:
    """A run that logged an artifact `model` in these versions."""
    with stepscope.init("demo", "run", dir=store, console=False, system=False, git=False) as run:
        for number, content in enumerate(versions):
            run.log_artifact(content, name="model", metadata={"epoch": number, "kind": "vit"}, aliases="best", **more)
        return str(run.id)


def saved(ctx: Context, run: str, version: int = 0) -> zipfile.ZipFile:
    download = artifact_zip(ctx, ArtifactZipRequest(run=run, name="model", version=version))
    assert download.filename == f"model-v{version}.zip"
    return zipfile.ZipFile(io.BytesIO(b"".join(download.pieces or ())))


def test_versions_are_told_newest_first_with_their_aliases_and_sizes(ctx: Context, store: Path) -> None:
    run = kept(store, {"a.txt": b"one"}, {"a.txt": b"three", "b/c.txt": b"x"}, {"a.txt": b"one"})
    ctx.catalogue.refresh()
    [one] = files(ctx, FilesRequest(run=run)).artifacts
    assert (one.name, one.type) == ("model", "file")
    told = [(v.version, v.files, v.bytes, v.aliases, v.metadata["epoch"], v.times) for v in one.versions]
    assert told == [(1, 2, 6, [], 1, 1), (0, 1, 3, ["best"], 2, 2)]


def test_an_alias_stands_in_the_lineage_only_where_it_refers_to_now(ctx: Context, store: Path) -> None:
    run = kept(store, {"a.txt": b"one"}, {"a.txt": b"two"})
    ctx.catalogue.refresh()
    nodes = lineage(ctx, LineageRequest(run=run)).nodes
    assert [(one.version, one.aliases) for one in nodes if one.kind == "artifact"] == [(0, []), (1, ["best"])]


def test_a_folder_is_listed_with_what_lies_below_it_and_a_search_looks_everywhere(ctx: Context, store: Path) -> None:
    run = kept(store, {"readme.md": b"#", "w/a.bin": b"12", "w/deep/b.bin": b"345"})
    ctx.catalogue.refresh()

    def listed(**asked: Any) -> list[tuple[str, str, int, bool, int]]:
        found = artifact(ctx, ArtifactRequest(run=run, name="model", version=0, **asked))
        return [(one.name, one.path, one.size, one.folder, one.files) for one in found.entries]

    assert listed() == [("w", "w", 5, True, 2), ("readme.md", "readme.md", 1, False, 1)]
    assert listed(folder="w") == [("deep", "w/deep", 3, True, 1), ("a.bin", "w/a.bin", 2, False, 1)]
    assert listed(search="BIN") == [("w/a.bin", "w/a.bin", 2, False, 1), ("w/deep/b.bin", "w/deep/b.bin", 3, False, 1)]
    assert listed(folder="../..") == []


def test_two_versions_are_compared_file_by_file(ctx: Context, store: Path) -> None:
    run = kept(store, {"a": b"1", "b": b"2", "c": b"3"}, {"a": b"1", "b": b"22", "d": b"4"})
    ctx.catalogue.refresh()
    diff = artifact_diff(ctx, ArtifactDiffRequest(run=run, name="model", version=1, against=0))
    assert [(one.path, one.kind, one.before, one.after) for one in diff.changes] == [
        ("b", "changed", 1, 2),
        ("c", "removed", 1, None),
        ("d", "added", None, 1),
    ]
    assert (diff.added, diff.removed, diff.changed, diff.same) == (1, 1, 1, 1)
    assert diff.metadata == [("epoch", 0, 1)]


@pytest.mark.parametrize(
    ("name", "content", "kind", "text"),
    [
        ("a.txt", b"hello", "text", "hello"),
        ("a.json", b'{"a": 1}', "json", '{"a": 1}'),
        ("a.csv", b"x,y\n1,2\n", "csv", "x,y\n1,2\n"),
        ("a.md", b"# Title", "markdown", "# Title"),
        ("page.html", b"<script>", "text", "<script>"),
        ("picture.txt", PNG, "image", ""),
        ("fake.png", b"<svg onload=x>", "text", "<svg onload=x>"),
        ("w.bin", b"\x01\x00\x02", "binary", "010002"),
        ("latin.txt", b"caf\xe9", "text", "caf\ufffd"),
    ],
)
def test_a_file_is_shown_by_what_it_holds(
    ctx: Context, store: Path, name: str, content: bytes, kind: str, text: str
) -> None:
    run = kept(store, {name: content})
    ctx.catalogue.refresh()
    found = artifact_preview(ctx, ArtifactPreviewRequest(run=run, name="model", version=0, path=name))
    assert (found.kind, found.text, found.cut) == (kind, text, False)


def test_a_long_text_is_cut_and_says_so(ctx: Context, store: Path) -> None:
    run = kept(store, {"long.log": b"x" * (2 << 20)})
    ctx.catalogue.refresh()
    found = artifact_preview(ctx, ArtifactPreviewRequest(run=run, name="model", version=0, path="long.log"))
    assert (len(found.text), found.cut) == (1 << 20, True)


def test_a_file_is_saved_and_only_a_real_image_is_shown(ctx: Context, store: Path) -> None:
    run = kept(store, {"dir/p.png": PNG, "evil.png": b"<html>"})
    ctx.catalogue.refresh()

    def given(path: str, show: bool) -> tuple[str, str | None, bytes | None]:
        found = artifact_file(ctx, ArtifactFileRequest(run=run, name="model", version=0, path=path, show=show))
        return found.mime, found.filename, found.body

    assert given("dir/p.png", True) == ("image/png", None, PNG)
    assert given("dir/p.png", False) == ("application/octet-stream", "p.png", PNG)
    with pytest.raises(UsageError, match="not an image"):
        given("evil.png", True)
    with pytest.raises(NotFound, match=r"no file '\.\./\.\./etc/passwd'"):
        given("../../etc/passwd", False)


def test_a_version_is_saved_as_a_zip_with_every_file(ctx: Context, store: Path) -> None:
    content = {"a.txt": b"one", "deep/er/b.bin": bytes(range(256)) * 9000, "empty": b""}
    run = kept(store, content)
    ctx.catalogue.refresh()
    archive = saved(ctx, run)
    assert archive.testzip() is None
    assert {name: archive.read(name) for name in archive.namelist()} == content


def test_references_say_where_the_files_are(ctx: Context, store: Path, tmp_path: Path) -> None:
    (tmp_path / "big.pt").write_bytes(b"weights")
    with stepscope.init("demo", "run", dir=store, console=False, system=False, git=False) as run:
        run.log_artifact(tmp_path / "big.pt", name="model", reference=True)
    ctx.catalogue.refresh()
    where = str((tmp_path / "big.pt").resolve())
    [entry] = artifact(ctx, ArtifactRequest(run=run.id, name="model", version=0)).entries
    assert (entry.reference, entry.problem) == (where, "")
    shown = artifact_preview(ctx, ArtifactPreviewRequest(run=run.id, name="model", version=0, path="big.pt"))
    assert (shown.kind, shown.text) == ("reference", where)
    with pytest.raises(NotFound, match="was not copied"):
        artifact_file(ctx, ArtifactFileRequest(run=run.id, name="model", version=0, path="big.pt"))
    archive = saved(ctx, run.id)
    assert archive.read("REFERENCES.txt").decode() == f"big.pt\t{where}\n"


def test_missing_and_damaged_files_are_said_everywhere(ctx: Context, store: Path) -> None:
    run = kept(store, {"gone.txt": b"gone", "bad.txt": b"good!", "short.txt": b"12345", "fine.txt": b"fine"})
    ctx.catalogue.refresh()
    folder = ctx.runs.get(run)
    hashes = {file.path: file.sha256 for file in folder.artifacts[0].files}
    folder.blob_path(hashes["gone.txt"]).unlink()
    for name, content in (("bad.txt", b"evil!"), ("short.txt", b"123")):
        path = folder.blob_path(hashes[name])
        path.chmod(0o600)
        path.write_bytes(content)
    found = artifact(ctx, ArtifactRequest(run=run, name="model", version=0)).entries
    assert {one.name: one.problem for one in found} == {
        "bad.txt": "",  # a glance does not see it; reading does
        "fine.txt": "",
        "gone.txt": "not in the run folder: they were dropped or lost",
        "short.txt": "damaged: it has 3 bytes instead of 5",
    }
    shown = artifact_preview(ctx, ArtifactPreviewRequest(run=run, name="model", version=0, path="bad.txt"))
    assert shown.kind == "problem"
    assert "damaged" in shown.note
    for name, words in (("gone.txt", "dropped or lost"), ("short.txt", "3 bytes instead of 5"), ("bad.txt", "damaged")):
        with pytest.raises(BadData, match=words):
            artifact_file(ctx, ArtifactFileRequest(run=run, name="model", version=0, path=name))
    archive = saved(ctx, run)
    told = archive.read("NOT-COMPLETE.txt").decode()
    assert sorted(line.partition(":")[0] for line in told.splitlines()) == ["bad.txt", "gone.txt", "short.txt"]
    assert archive.read("fine.txt") == b"fine"


def test_paths_that_lead_out_are_never_written_into_a_zip(ctx: Context, store: Path) -> None:
    run = write_run(store, events=[hostile("../../.bashrc")])
    ctx.catalogue.refresh()
    put_bytes(ctx.runs.get(run).path, b"x")
    with pytest.raises(BadData, match="has an unsafe record"):
        artifact_zip(ctx, ArtifactZipRequest(run=run, name="model", version=0))


def test_a_hash_that_is_a_path_opens_nothing(ctx: Context, store: Path) -> None:
    file = ArtifactFile(path="a", sha256="../../../etc/passwd", size=9)
    run = write_run(store, events=[Artifact(time=1.0, name="model", version=0, digest="d", files=[file])])
    ctx.catalogue.refresh()
    [entry] = artifact(ctx, ArtifactRequest(run=run, name="model", version=0)).entries
    assert "not a SHA-256" in entry.problem
    assert "a: " in saved(ctx, run).read("NOT-COMPLETE.txt").decode()
    with pytest.raises(BadData, match="not a SHA-256"):
        artifact_file(ctx, ArtifactFileRequest(run=run, name="model", version=0, path="a"))


def hostile(path: str, **about: Any) -> Artifact:
    sha256 = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"  # of b"x"
    file = ArtifactFile(path=path, sha256=sha256, size=1)
    return Artifact(time=1.0, name="model", version=0, digest="d", files=[file], **about)


def test_an_artifact_that_is_not_there_is_said(ctx: Context, store: Path) -> None:
    run = kept(store, {"a": b"1"}, {"a": b"2"})
    ctx.catalogue.refresh()
    with pytest.raises(NotFound, match="has no version 7; it has v0, v1"):
        artifact(ctx, ArtifactRequest(run=run, name="model", version=7))
    with pytest.raises(NotFound, match="not one of this run's"):
        artifact(ctx, ArtifactRequest(run=run, name="other", version=0))


def test_the_folder_of_the_run_is_told_file_by_file(ctx: Context, store: Path) -> None:
    run = kept(store, {"a": b"12345"})
    ctx.catalogue.refresh()
    found = files(ctx, FilesRequest(run=run))
    kinds = {one.kind: one for one in found.own}
    assert {"about", "log", "blobs"} <= set(kinds)
    assert (kinds["blobs"].files, kinds["blobs"].bytes) == (1, 5)
    assert kinds["log"].about.startswith("training, rank 0, pid ")
    assert (found.damage, found.omitted) == ([], 0)
    whole = sum(path.stat().st_size for path in Path(found.path).rglob("*") if path.is_file())
    assert found.bytes == whole


def test_damage_in_a_log_is_said_at_its_file(ctx: Context, store: Path) -> None:
    run = write_run(store, series={"loss": [float(n) for n in range(500)]})
    [log] = (store / run).glob("*.points.*.log")
    data = bytearray(log.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 40] = b"\xff" * 40
    log.chmod(0o600)
    log.write_bytes(data)
    ctx.catalogue.refresh()
    found = files(ctx, FilesRequest(run=run))
    assert any("damaged stretch" in words for words in found.damage)
    assert [one.name for one in found.own if "cannot be read" in one.damage] == [log.name]


def test_a_saved_step_tells_what_failed(ctx: Context, store: Path) -> None:
    manifest = b'{"why": "loss", "step": 12, "loss": "nan", "error": "", "missing": ["optimizer 0: too large"]}'
    notes = {"why": "loss", "step": 12, "rank": 0}
    with stepscope.init("demo", "run", dir=store, console=False, system=False, git=False) as run:
        run.log_artifact({"capsule.json": manifest}, name="capsule-step-12", type="capsule", metadata=notes)
        run.log_artifact({"capsule.json": b"[]"}, name="capsule-step-13", type="capsule", metadata={"step": 13})
    ctx.catalogue.refresh()
    found = files(ctx, FilesRequest(run=run.id))
    assert found.artifacts == []
    first, second = found.saved_steps
    assert (first.step, first.why, first.said, first.missing) == (12, "loss", "loss nan", ["optimizer 0: too large"])
    assert second.problem
