from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def kept(run: Any) -> dict[str, int]:
    """The names of kept files with how many versions each has."""
    found: dict[str, int] = {}
    for artifact in run.artifacts:
        found[artifact.name] = max(found.get(artifact.name, 0), artifact.version + 1)
    return found


def test_files_are_kept_now_or_at_the_end(wandb: ModuleType, last: Callable[[], Any], tmp_path: Path) -> None:
    for name in ("now.txt", "live.txt", "end.txt"):
        (tmp_path / name).write_text("first")
    with wandb.init(project="p"):
        for name in ("now", "live", "end"):
            assert wandb.save(f"{name}*", policy=name) == [str(tmp_path / f"{name}.txt")]
        for name in ("now.txt", "live.txt", "end.txt"):
            (tmp_path / name).write_text("second")
    assert kept(last()) == {"now.txt": 1, "live.txt": 2, "end.txt": 1}
    for name, text in (("now.txt", "first"), ("live.txt", "second"), ("end.txt", "second")):
        with wandb.restore(name, run_path=f"p/{last().id}", root=str(tmp_path / "a")) as stream:
            assert stream.read() == text


def test_folders_of_a_path_are_kept_below_the_base(wandb: ModuleType, last: Callable[[], Any], tmp_path: Path) -> None:
    (tmp_path / "out" / "deep").mkdir(parents=True)
    (tmp_path / "out" / "deep" / "m.pt").write_text("m")
    with wandb.init(project="p"):
        wandb.save("out/deep/*.pt", base_path="out", policy="now")
        wandb.save("out/deep/m.pt", policy="now")
        wandb.save(str(tmp_path / "out" / "deep" / "m.pt"), policy="now")
    assert sorted(kept(last())) == ["deep/m.pt", "m.pt", "out/deep/m.pt"]


def test_what_lies_in_the_runs_folder_is_kept(wandb: ModuleType, last: Callable[[], Any]) -> None:
    with wandb.init(project="p") as run:
        (Path(run.dir) / "model.pt").write_text("weights")
        (Path(run.dir) / "sub").mkdir()
        (Path(run.dir) / "sub" / "x.txt").write_text("x")
    assert sorted(kept(last())) == ["model.pt", "sub/x.txt"]
    assert [file.name for file in wandb.Api().run(last().id).files()] == ["model.pt", "sub/x.txt"]


def test_a_pattern_that_fits_nothing_is_said(wandb: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    wandb.init(project="p")
    assert wandb.save("*.nothing") == []
    assert "'*.nothing') matches no file" in capsys.readouterr().err


def test_what_was_never_kept_cannot_be_restored(wandb: ModuleType) -> None:
    with pytest.raises(ValueError, match=r"call wandb\.init\(\) first"):
        wandb.restore("x")
    wandb.init(project="p")
    with pytest.raises(ValueError, match=r"File x\.txt not found"):
        wandb.restore("x.txt")
    with pytest.raises(wandb.CommError, match="Could not find run 'p/none'"):
        wandb.restore("x.txt", run_path="p/none")


def test_the_code_is_kept(wandb: ModuleType, last: Callable[[], Any], tmp_path: Path) -> None:
    code = tmp_path / "code"
    (code / "pkg").mkdir(parents=True)
    (code / "__pycache__").mkdir()
    for name in ("train.py", "pkg/net.py", "data.csv", "__pycache__/x.py", "requirements.txt"):
        (code / name).write_text("#")
    with wandb.init(project="p") as run:
        found = run.log_code(str(code))
        assert sorted(found.manifest.entries) == ["pkg/net.py", "requirements.txt", "train.py"]
        only = run.log_code(
            str(code), "csv", include_fn=lambda path: path.endswith(".csv"), exclude_fn=lambda p, root: False
        )
        assert list(only.manifest.entries) == ["data.csv"]
        assert run.log_code(str(code / "pkg"), include_fn=lambda path, root: False) is None
    assert last().artifacts[0].type == "code"
