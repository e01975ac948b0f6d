"""`stepscope replay` as typed: it asks before it runs code, and says what came out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from stepscope.cli.main import commands
from stepscope.errors import Forbidden, NotFound
from stepscope.launch.capsule.manifest import Manifest, Source
from stepscope.launch.capsule.tensors import write_tensors
from stepscope.launch.replay.source_selection import compare_sources
from stepscope.launch.replay_consent import ask_for_trust, what_would_run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    script = tmp_path / "train.py"
    script.write_text("open('ran', 'w').close()\n")
    manifest = {"why": "loss", "step": 3, "script": str(script), "cwd": str(tmp_path), "loss": "nan"}
    capsule = tmp_path / "capsule"
    capsule.mkdir()
    (capsule / "capsule.json").write_text(json.dumps(manifest))
    write_tensors(capsule / "tensors.safetensors", {"t0": torch.ones(1)})
    return capsule


def test_without_a_terminal_nothing_runs_unless_trusted(folder: Path) -> None:
    told = CliRunner().invoke(commands, ["replay", str(folder)])
    assert isinstance(told.exception, Forbidden)
    assert "add --trust" in str(told.exception)
    assert "this would run: " in told.output
    assert "step 3: its loss was nan" in told.output
    assert not (folder.parent / "ran").exists()


def test_a_capsule_without_a_beginning_says_why_it_cannot_run(folder: Path) -> None:
    told = CliRunner().invoke(commands, ["replay", str(folder), "--trust"])
    assert isinstance(told.exception, NotFound)
    assert "where in the script it began" in str(told.exception)


def test_no_run_of_that_name(tmp_path: Path) -> None:
    told = CliRunner().invoke(commands, ["replay", "nothing", "--dir", str(tmp_path / "runs")])
    assert isinstance(told.exception, NotFound)


def test_a_store_in_which_nothing_failed(store: Path) -> None:
    told = CliRunner().invoke(commands, ["replay", "--dir", str(store)])
    assert isinstance(told.exception, NotFound)
    assert "has a saved step" in str(told.exception)


def test_what_would_run_compares_every_file_with_the_disk(tmp_path: Path) -> None:
    (tmp_path / "same.py").write_text("")
    (tmp_path / "changed.py").write_text("x = 1\n")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    names = ("same.py", "changed.py", "gone.py")
    sources = [Source(path=str(tmp_path / name), inner=f"source/{name}", sha256=empty) for name in names]
    manifest = Manifest(why="error", step=1, script="train.py", argv=["--lr", "1"], cwd="/home/me", sources=sources)
    assert what_would_run(manifest, compare_sources(manifest), current=False).splitlines() == [
        "this would run: train.py --lr 1",
        "  in /home/me",
        f"  e3b0c44298fc  {tmp_path}/same.py  (the same file as on this disk)",
        f"  e3b0c44298fc  {tmp_path}/changed.py  (differs from the file on this disk)",
        f"  e3b0c44298fc  {tmp_path}/gone.py  (not on this disk)",
        "  with the capsule's files: some differ from those on this disk (--current uses the disk's)",
        "  tensors and values are read as plain data; nothing is unpickled",
    ]


def test_on_a_terminal_it_asks() -> None:
    asked: list[str] = []
    manifest = Manifest(why="error", step=1, script="train.py")

    def ask(answer: bool) -> None:
        ask_for_trust(
            manifest,
            [],
            trusted=False,
            current=False,
            is_terminal=True,
            say=asked.append,
            confirm=lambda question: answer,
        )

    ask(True)
    assert asked
    with pytest.raises(Forbidden, match="nothing was run"):
        ask(False)
