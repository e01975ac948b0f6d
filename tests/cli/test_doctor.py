from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from stepscope.cli._doctor import problems_in
from stepscope.cli.main import commands
from stepscope.events import hub, installed_now
from stepscope.events.doors import DOORS
from stepscope.events.points import POINTS
from stepscope.events.presence import presence


def say(*args: str, code: int = 0) -> str:
    done = CliRunner().invoke(commands, ["doctor", *args], catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.output


def test_says_what_is_there_without_importing_torch(tmp_path: Path) -> None:
    code = (
        "import sys; from stepscope.cli.main import main\ntry: main(['doctor'])\nfinally: print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("stepscope ")
    assert f"runs      {tmp_path}/stepscope-runs (writable" in done.stdout
    assert "torch.nn:Module._call_impl (or __call__): model_begins, model_ends, module_begins" in done.stdout
    assert (lines[-2], lines[-1], done.returncode) == ("no problems found", "False", 0)


def test_lists_every_point_with_its_reason() -> None:
    said = say("--all")
    missing = [point for point in POINTS.values() if f"{point.address}: {point.why}" not in said]
    assert missing == []


def test_tries_everything_and_finds_all_as_it_was(tmp_path: Path) -> None:
    found = json.loads(say("--torch", "--json", "--dir", str(tmp_path)))
    checked = found["selfcheck"]
    assert (checked["left"], checked["faults"], checked["same_bits"]) == ([], [], True)
    assert checked["patches"] > 50
    assert checked["events"] > 80
    assert checked["operations"] > 30
    assert [problem for problem in found["problems"] if problem["kind"] == "problem"] == []
    assert installed_now() == []


def test_a_patch_that_stays_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from stepscope.events import selfcheck

    train, before = selfcheck._train, torch.save

    def forgetful() -> Any:
        done = train()
        monkeypatch.setattr(torch, "save", lambda *args: before(*args))
        return done

    monkeypatch.setattr(selfcheck, "_train", lambda: train() if torch.save is before else forgetful())
    assert selfcheck.check().left == ("torch:save",)


def test_a_folder_that_cannot_be_written_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    said = say("--dir", str(tmp_path / "file" / "runs"), code=1)
    assert f"problem: runs cannot be written to {tmp_path}/file/runs; choose another folder" in said


def test_every_problem_says_what_to_do() -> None:
    found = {
        "packages": {},
        "runs": {"path": "/x", "is_writable": True, "free_bytes": 5 << 20},
        "mode": "off",
        "compiled": dict.fromkeys(("trace scanner", "module door", "operations", "tape"), False),
        "cuda": {"torch_devices": [], "driver_devices": ["nvidia0"], "CUDA_VISIBLE_DEVICES": None},
        "selfcheck": {"left": ["torch:save"], "faults": ["the pulse"], "same_bits": False},
    }
    problems = problems_in(found)
    assert len(problems) == 9
    assert all(problem["do"] for problem in problems)
    assert "only 5 MiB of disk space is free in the runs folder" in [problem["what"] for problem in problems]


def test_every_kind_of_event_has_one_door() -> None:
    kinds = [kind for door in DOORS for kind in door.kinds if kind != "operations"]
    assert sorted(kinds) == sorted(hub.KINDS)


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("torch.nn:Module.train", "found"),
        ("torch:save", "found"),
        ("torch.nn.utils:clip_grad_norm_", "found"),
        ("torch.nn:Module.no_such_method", "missing"),
        ("torch.optim.lr_scheduler:NoSuchScheduler.step", "missing"),
        ("no_such_package.part:Thing.method", "not installed"),
        ("multiprocessing.process:BaseProcess.start", "found"),
        ("sys:excepthook", "found"),
    ],
)
def test_points_are_found_in_source_files_as_in_the_packages(address: str, found: str, tmp_path: Path) -> None:
    assert presence(address) == found, "with the package imported"
    code = f"import sys, stepscope.events.presence as p; print(p.presence({address!r}), 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{found} False"
