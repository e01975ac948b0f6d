"""Runs that are sent by themselves once somebody has logged in, and trainings that notice nothing of it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.team import TOKEN, team_server

from stepscope.runs.format.layout import run_folders
from stepscope.runs.read.folder import open_run
from stepscope.sync.servers import Login, save_login

from .bad_servers import liar, lying_server, silent_server
from .test_sync import TRAINING, bytes_of


def train(store: Path, config: Path, script: str = TRAINING, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "STEPSCOPE_CONFIG": str(config), **more}
    words = [sys.executable, "-c", script, str(store)]
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


WATCHED = """
import hashlib, sys
import torch, stepscope
stepscope.init(project="p", dir=sys.argv[1])
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Dropout(0.5), torch.nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters())
for step in range(30):
    x = torch.randn(16, 8)
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    stepscope.log({"loss": loss.item()}, step=step)
    print(step, loss.item().hex())
print(hashlib.sha256(b"".join(value.numpy().tobytes() for value in model.state_dict().values())).hexdigest())
sys.exit(3)
"""


@dataclass(frozen=True)
class Training:
    """All that somebody sees of a training: how it ended, what it printed (its weights too), what was recorded."""

    code: int
    out: str
    errors: str
    loss: list[float]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Training:
    folder = tmp_path_factory.mktemp("alone")
    return watched(folder / "runs", folder / "no-login")


def watched(store: Path, config: Path) -> Training:
    done = train(store, config, script=WATCHED)
    [run] = run_folders(store)
    said = done.stderr.replace(run.name, "RUN").replace(str(store), "STORE")
    return Training(done.returncode, done.stdout, said, open_run(run).series("loss").values.tolist())


@pytest.mark.parametrize("server", ["dead", "silent", "lying", "not HTTP"])
def test_a_bad_server_changes_nothing_for_the_training(
    alone: Training, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, port: int, server: str
) -> None:
    kinds: dict[str, AbstractContextManager[str]] = {
        "dead": nullcontext(f"http://127.0.0.1:{port}"),
        "silent": silent_server(),
        "lying": lying_server(b'{"size":99999999999}'),
        "not HTTP": not_http(),
    }
    with kinds[server] as url:
        log_in(monkeypatch, tmp_path / "config", url)
        try:
            assert watched(store, tmp_path / "config") == alone
            assert (store / ".import-sync-beside.lock").exists()  # somebody did try to send it
        finally:
            stop_beside(store)
    assert (alone.code, len(alone.out.splitlines()), len(alone.loss)) == (3, 31, 30)


@contextmanager
def not_http() -> Iterator[str]:
    with liar(b"SSH-2.0-OpenSSH_9.6") as (url, _):
        yield url


def stop_beside(store: Path) -> None:
    """End the process that goes on trying to reach the dead server."""
    import psutil

    for process in psutil.process_iter(["cmdline"]):
        if str(store.absolute()) in (process.info["cmdline"] or []):
            process.kill()
            process.wait(60)
