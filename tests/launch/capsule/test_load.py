"""A capsule may come from anywhere: whatever it holds, opening it runs nothing and writes nowhere else."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest
import torch

from stepscope.errors import BadData, NotFound
from stepscope.launch.capsule.load import Capsule, open_folder
from stepscope.launch.capsule.safe_encoding import Unpacker
from stepscope.launch.capsule.sources import sha256_of
from stepscope.launch.capsule.tensors import write_tensors


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small capsule as we write it."""
    capsule = tmp_path / "capsule"
    (capsule / "source").mkdir(parents=True)
    (capsule / "source" / "train.py").write_text("print('hello')\n")
    sources = [{"path": "/home/me/train.py", "inner": "source/train.py", "sha256": sha256_of(b"print('hello')\n")}]
    write_tensors(capsule / "tensors.safetensors", {"t0": torch.arange(6.0).reshape(2, 3)})
    describe(capsule, why="loss", step=3, sources=sources, batches=[{"$tensor": "t0"}])
    return capsule


def describe(folder: Path, **fields: Any) -> None:
    (folder / "capsule.json").write_text(json.dumps({"format": 1, **fields}))


def change(folder: Path, **fields: Any) -> None:
    describe(folder, **(json.loads((folder / "capsule.json").read_text()) | fields))


def batch_of(capsule: Capsule) -> Any:
    return Unpacker(capsule.tensor).unpack(capsule.manifest.batches[0])


def test_an_honest_capsule_gives_its_batch_and_sources(folder: Path) -> None:
    capsule = open_folder(folder)
    assert torch.equal(batch_of(capsule), torch.arange(6.0).reshape(2, 3))
    source = capsule.manifest.sources[0]
    assert capsule.source(source.inner, source.sha256) == b"print('hello')\n"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": 1}', '{"format": 1, "why": "love", "step": 1}', "[" * 100_000, "\xff"]
)
def test_a_manifest_that_is_not_ours_is_refused(folder: Path, text: str) -> None:
    (folder / "capsule.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(BadData, match=r"not a Stepscope capsule\.json"):
        open_folder(folder)


def test_a_newer_format_asks_for_an_update(folder: Path) -> None:
    change(folder, format=99)
    with pytest.raises(BadData, match="update stepscope"):
        open_folder(folder)


@pytest.mark.parametrize("inner", ["../../evil.py", "/etc/passwd", "source/../../evil.py", "evil.py", "C:\\evil.py"])
def test_names_that_lead_out_are_refused(folder: Path, inner: str) -> None:
    change(folder, sources=[{"path": "x.py", "inner": inner, "sha256": "0"}])
    with pytest.raises(BadData, match="cannot be trusted"):
        open_folder(folder)


def test_a_source_that_was_changed_is_refused(folder: Path) -> None:
    (folder / "source" / "train.py").write_text("import os; os.remove('/')\n")
    capsule = open_folder(folder)
    source = capsule.manifest.sources[0]
    with pytest.raises(BadData, match="its hash does not match"):
        capsule.source(source.inner, source.sha256)


def test_a_symbolic_link_out_of_the_capsule_is_not_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (folder / "source" / "train.py").unlink()
    (folder / "source" / "train.py").symlink_to(tmp_path / "secret")
    with pytest.raises(BadData, match="through a link, which is not followed"):
        open_folder(folder).source("source/train.py", sha256_of(b"secret"))


def test_a_pickle_in_the_capsule_is_never_opened(folder: Path, tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "boom"),)

    bomb = pickle.dumps(Bomb())
    for name in ("tensors.pt", "batch.pkl", "tensors.safetensors"):
        (folder / name).write_bytes(bomb)
    with pytest.raises(BadData):
        batch_of(open_folder(folder))
    assert not (tmp_path / "boom").exists()


@pytest.mark.parametrize(
    "node",
    [
        {"$tensor": "t9"},
        {"$tensor": "t0", "order": [0, 0]},
        {"$pickle": "gASV"},
        {"$dict": [["a"]]},
        {"$dict": [[{"$dict": []}, 1]]},
        {"$dtype": "load"},
        {"$int": "__import__('os')"},
        {"$bytes": "not base64!"},
        {"$object": "os:system", "kind": "plain"},
    ],
)
def test_values_that_were_tampered_with_are_refused(folder: Path, node: Any) -> None:
    change(folder, batches=[node])
    with pytest.raises(BadData):
        batch_of(open_folder(folder))


def test_only_classes_are_built_and_without_calling_them(folder: Path) -> None:
    change(folder, batches=[{"$object": "os:system", "kind": "plain", "fields": {"command": "touch boom"}}])
    assert "missing" in repr(batch_of(open_folder(folder)))
    change(folder, batches=[{"$object": "pathlib:NoSuch", "kind": "plain", "fields": {}}])
    assert "missing" in repr(batch_of(open_folder(folder)))


def test_nesting_without_end_is_refused(folder: Path) -> None:
    node: Any = 1
    for _ in range(200):
        node = [node]
    change(folder, batches=[node])
    with pytest.raises(BadData, match="deeper"):
        batch_of(open_folder(folder))


@pytest.mark.parametrize("cut", [0, 4, 8, 40, 100])
def test_tensors_that_are_cut_off_are_refused(folder: Path, cut: int) -> None:
    path = folder / "tensors.safetensors"
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(BadData):
        batch_of(open_folder(folder))


def test_lost_files_are_named(folder: Path, tmp_path: Path) -> None:
    (folder / "tensors.safetensors").unlink()
    (folder / "source" / "train.py").unlink()
    capsule = open_folder(folder)
    with pytest.raises(NotFound, match=r"tensors\.safetensors"):
        batch_of(capsule)
    with pytest.raises(NotFound, match=r"source/train\.py"):
        capsule.source("source/train.py", "0")
    with pytest.raises(NotFound, match="no capsule"):
        open_folder(tmp_path / "nowhere")
