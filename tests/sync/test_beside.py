"""Runs that are sent by themselves once somebody has logged in, and trainings that notice nothing of it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.team import TOKEN, team_server

from stepscope.runs.format.layout import run_folders
from stepscope.sync.servers import Login, save_login

from .test_sync import TRAINING, bytes_of


def train(store: Path, config: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "STEPSCOPE_CONFIG": str(config), **more}
    words = [sys.executable, "-c", TRAINING, str(store)]
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120)


def log_in(monkeypatch: pytest.MonkeyPatch, config: Path, url: str) -> None:
    monkeypatch.setenv("STEPSCOPE_CONFIG", str(config))
    save_login(Login(url, TOKEN, "ada"))


def test_a_run_is_sent_where_the_user_is_logged_in(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "server"
    with team_server(home, compact=False) as server:
        log_in(monkeypatch, tmp_path / "config", server.url)
        assert train(store, tmp_path / "config").returncode == 0
        until = time.monotonic() + 200
        while bytes_of(home) != bytes_of(store):
            assert time.monotonic() < until, "the run has not come to the server"
            time.sleep(0.2)
    assert len(run_folders(home)) == 1


def test_nothing_is_sent_without_a_login_or_with_it_turned_off(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, port: int
) -> None:
    assert train(store, tmp_path / "none").returncode == 0
    log_in(monkeypatch, tmp_path / "config", f"http://127.0.0.1:{port}")
    assert train(store, tmp_path / "config", STEPSCOPE_SYNC="0").returncode == 0
    assert not (store / ".import-sync-beside.lock").exists()


def test_a_dead_server_changes_nothing_for_the_training(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, port: int
) -> None:
    log_in(monkeypatch, tmp_path / "config", f"http://127.0.0.1:{port}")
    done = train(store, tmp_path / "config")
    plain = train(tmp_path / "plain", tmp_path / "none")
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout) == (0, "")
    assert "sync" not in done.stderr
    sizes = [len(path.read_bytes()) > 1000 for run in run_folders(store) for path in run.glob("*points*.log")]
    assert sizes == [True]
    stop_beside(store)


def stop_beside(store: Path) -> None:
    """End the process that goes on trying to reach the dead server."""
    import psutil

    for process in psutil.process_iter(["cmdline"]):
        if str(store.absolute()) in (process.info["cmdline"] or []):
            process.kill()
            process.wait(60)
