"""The code and the machine a run was made on."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import stepscope
from stepscope.track import environment, git
from stepscope.track.environment import allowed_variables, installed_packages
from stepscope.track.git import full_state, quick_state
from stepscope.track.system import Rate, Sampler


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    path = tmp_path / "repo"
    path.mkdir()
    run_git(path, "init", "-q", "-b", "main")
    (path / "train.py").write_text("lr = 1\n")
    run_git(path, "add", "train.py")
    run_git(path, "commit", "-qm", "first")
    return path


def run_git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def test_commit_and_branch_come_from_files(repository: Path) -> None:
    state = quick_state(repository)
    assert state is not None
    assert (state.commit, state.branch) == (run_git(repository, "rev-parse", "HEAD"), "main")


def test_packed_refs_detached_heads_folders_below_and_worktrees(repository: Path, tmp_path: Path) -> None:
    commit = run_git(repository, "rev-parse", "HEAD")
    run_git(repository, "pack-refs", "--all")
    assert quick_state(repository).commit == commit  # type: ignore[union-attr]
    (repository / "sub").mkdir()
    assert quick_state(repository / "sub").commit == commit  # type: ignore[union-attr]
    run_git(repository, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "side")
    tree = quick_state(tmp_path / "tree")
    assert (tree.commit, tree.branch) == (commit, "side")  # type: ignore[union-attr]
    run_git(repository, "checkout", "-q", "--detach")
    assert quick_state(repository).branch is None  # type: ignore[union-attr]


def test_no_repository_and_no_commit_are_no_error(tmp_path: Path) -> None:
    assert full_state(tmp_path) is None
    run_git(tmp_path, "init", "-q")
    state = full_state(tmp_path)
    assert state is not None
    assert (state.commit, state.diff) == ("", None)


def test_the_diff_is_kept_and_cut_and_the_index_is_not_touched(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_git(repository, "remote", "add", "origin", "https://me:pw@example.org/r.git")
    (repository / "train.py").write_text("lr = 2\n")
    before = (repository / ".git" / "index").read_bytes()
    state = full_state(repository)
    assert state is not None
    assert state.dirty
    assert "+lr = 2" in (state.diff or "")
    assert state.remote == "https://example.org/r.git"
    assert (repository / ".git" / "index").read_bytes() == before
    monkeypatch.setattr(git, "MAX_DIFF_BYTES", 20)
    cut = full_state(repository)
    assert cut is not None
    assert (len(cut.diff or ""), cut.diff_truncated) == (20, True)


def test_a_git_that_hangs_or_is_missing_is_no_error(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = repository / "bin"
    fake.mkdir()
    (fake / "git").write_text("#!/bin/sh\nexec sleep 1000\n")
    (fake / "git").chmod(0o755)
    monkeypatch.setattr(git, "TIMEOUT_S", 0.1)
    monkeypatch.setenv("PATH", f"{fake}:/bin:/usr/bin")
    began = time.monotonic()
    state = full_state(repository)
    assert state is not None
    assert (state.branch, state.diff) == ("main", None)
    assert time.monotonic() - began < 200
    monkeypatch.setenv("PATH", str(repository))
    assert full_state(repository).branch == "main"  # type: ignore[union-attr]


def test_packages_are_what_importlib_finds() -> None:
    from importlib.metadata import distributions

    found = installed_packages()
    names = {each.metadata["Name"].lower().replace("_", "-"): each.version for each in distributions()}
    different = {name for name in names if found.get(name, "").split("+")[0] != names[name].split("+")[0]}
    assert {name for name in different if "." not in name} == set()


def test_only_variables_that_explain_a_run_are_kept() -> None:
    given = {
        "CUDA_VISIBLE_DEVICES": "0",
        "WORLD_SIZE": "8",
        "HOME": "/root",
        "AWS_SECRET_ACCESS_KEY": "x",
        "PATH": "/bin",
    }
    assert allowed_variables(given) == {"CUDA_VISIBLE_DEVICES": "0", "WORLD_SIZE": "8"}


def test_a_working_folder_that_is_gone_is_no_error(tmp_path: Path) -> None:
    code = "import os, sys; os.rmdir(sys.argv[1]); from stepscope.track.environment import quick_facts; quick_facts()"
    (tmp_path / "gone").mkdir()
    folder = str(tmp_path / "gone")
    done = subprocess.run([sys.executable, "-c", code, folder], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_meters_answer_and_are_numbers(tmp_path: Path) -> None:
    sampler = Sampler(tmp_path)
    sampler.open()
    time.sleep(0.02)
    meters = sampler.sample()
    sampler.close()
    assert {"system/cpu_percent", "system/memory_bytes", "system/process_rss_bytes", "system/disk_percent"} <= set(
        meters
    )
    assert all(isinstance(value, float) and value >= 0 for value in meters.values())
    assert meters["system/process_rss_bytes"] > 1e6


def test_a_rate_needs_two_looks_and_survives_a_reset() -> None:
    now = [0.0]
    rate = Rate(lambda: now[0])
    assert rate.of("x", 100) is None
    now[0] = 2.0
    assert rate.of("x", 300) == 100.0
    now[0] = 3.0
    assert rate.of("x", 5) is None


def test_the_user_is_known_even_without_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("USER", "LOGNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    assert environment._user() == str(os.getuid())


def test_a_run_of_a_second_has_machine_metrics_too(store: Path) -> None:
    run = stepscope.init(dir=store, git=False)
    assert run.path is not None
    deadline = time.monotonic() + 300
    while "system/cpu_percent" not in stepscope.run(run.path).metrics() and time.monotonic() < deadline:
        time.sleep(0.1)
    run.finish()
    assert {"system/cpu_percent", "system/process_rss_bytes"} <= set(stepscope.run(run.path).metrics())
