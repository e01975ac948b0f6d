"""`stepscope ui URL`: the runs of a server in the local app, also while the server is away."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.runs.making import make_run
from tests.team import TOKEN, join, people_in

from stepscope.errors import ConfigError
from stepscope.runs.read.folder import open_run
from stepscope.server.mirror import Mirror, is_address
from stepscope.server.serve import running
from stepscope.server.settings import Settings
from stepscope.sync.servers import Login, save_login


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSCOPE_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("STEPSCOPE_CACHE", str(tmp_path / "cache"))


def _names(address: str, token: str) -> list[str]:
    headers = {"authorization": f"Bearer {token}", "x-stepscope": "1"}
    answer = httpx.post(f"{address}/api/runs", json={"sort": "name"}, headers=headers, timeout=60).json()
    return sorted(row["name"] for row in answer["rows"])


def test_the_runs_of_a_server_come_into_the_app_and_stay_when_it_is_gone(tmp_path: Path) -> None:
    there = tmp_path / "there"
    command = [sys.executable, "-m", "stepscope", "ui", "--port", "0", "--json"]
    with people_in(there) as people:
        mine = join(people, "bo", "viewer", "p", scopes=("read",))
        first = make_run(there, "first", series={"loss": [1.0, 0.5]})
        make_run(there, "hidden", series={"loss": [1.0]}, project="secret")
        with running([there], Settings(token=None, ingest=there, people=people, compact=False)) as server:
            save_login(Login(server.url, mine, "bo"))
            process = subprocess.Popen(
                [*command, server.url], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=os.environ
            )
            assert process.stdout is not None
            said: dict[str, Any] = json.loads(process.stdout.readline())
            try:
                _until(lambda: _names(said["url"], said["token"]) == ["first"])
                make_run(there, "second", series={"loss": [2.0]})
                _until(lambda: _names(said["url"], said["token"]) == ["first", "second"])
            finally:
                process.send_signal(signal.SIGINT)
                assert process.wait(60) == 0
                process.stdout.close()
    mirror = Mirror(server.url)  # the server is away; what was brought is there, byte for byte
    assert sorted(open_run(path).meta.name for path in mirror.store.iterdir() if (path / "meta.json").exists()) == [
        "first",
        "second",
    ]
    logs = sorted(path.relative_to(first) for path in first.rglob("*.log"))
    assert all((mirror.store / first.name / log).read_bytes() == (first / log).read_bytes() for log in logs)
    assert logs
    assert mirror._look()


def test_an_address_without_a_login_is_refused_with_what_to_do() -> None:
    with pytest.raises(ConfigError, match=r"stepscope login http://127\.0\.0\.1:1"):
        Mirror("http://127.0.0.1:1/")
    assert is_address("https://runs.example.org")
    assert not is_address("runs/https")


def test_another_user_has_another_copy() -> None:
    stores = set()
    for name in ("ada", "bo"):
        save_login(Login("http://127.0.0.1:1", TOKEN, name))
        stores.add(Mirror("http://127.0.0.1:1").store)
    assert len(stores) == 2


def _until(true: Any) -> None:
    deadline = time.monotonic() + 90
    while not true():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.1)
