"""Artifacts across machines: logged on one, used on another, followed from run to run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from tests.team import TOKEN, team_server

import stepscope
from stepscope.cli.main import commands
from stepscope.errors import BadData, NotFound
from stepscope.records import ArtifactUse
from stepscope.runs.format.layout import run_folders
from stepscope.runs.read.folder import open_run
from stepscope.server.serve import Running
from stepscope.sync import artifacts
from stepscope.sync.artifacts import download
from stepscope.sync.push import push
from stepscope.sync.remote import Remote, Unreachable
from stepscope.sync.servers import Login, save_login

WEIGHTS = os.urandom(300_000)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with team_server(tmp_path / "server", compact=False, poll_s=0.05) as server:
        yield server


@pytest.fixture
def logged_in(server: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Running:
    monkeypatch.setenv("STEPSCOPE_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("STEPSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("STEPSCOPE_SYNC", "0")
    save_login(Login(server.url, TOKEN, "ada"))
    return server


def training(machine: Path, name: str) -> stepscope.Run:
    return stepscope.init(project="vae", name=name, dir=machine, console=False, system=False)


def send(machine: Path, server: Running) -> None:
    with Remote(server.url, TOKEN) as remote:
        assert push(run_folders(machine), remote).problems == {}


def ask(server: Running, path: str, **request: object) -> dict[str, object]:
    headers = {"authorization": f"Bearer {TOKEN}", "x-stepscope": "1"}
    answer = httpx.post(f"{server.url}{path}", json=request, headers=headers, timeout=60)
    assert answer.status_code == 200, answer.text
    found: dict[str, object] = answer.json()
    return found


def test_a_run_uses_what_a_run_elsewhere_has_logged(tmp_path: Path, logged_in: Running) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    with training(one, "maker") as maker:
        maker.log_artifact({"w.bin": b"old"}, name="model", type="model")
        maker.log_artifact({"w.bin": WEIGHTS, "sub/note.txt": b"hi"}, name="model", type="model", aliases="best")
    send(one, logged_in)
    with training(two, "user") as user:
        used = user.use_artifact("model:best")
        assert (used.name, used.version, used.type, used.aliases) == ("model", 1, "model", ["best"])
        assert (used.path / "w.bin").read_bytes() == WEIGHTS
        assert (used.path / "sub" / "note.txt").read_bytes() == b"hi"
        assert user.use_artifact("vae/model:v0").file.read_bytes() == b"old"
        user.log_artifact({"eval.json": b"{}"}, name="eval")
        with pytest.raises(NotFound, match="artifact 'other' was not found"):
            user.use_artifact("other:best")
    noted = open_run(next(iter(run_folders(two)))).events(ArtifactUse)
    assert [(one.wanted, one.run, one.version) for one in noted] == [
        ("model:best", maker.id, 1),
        ("vae/model:v0", maker.id, 0),
    ]
    send(two, logged_in)
    graph = ask(logged_in, "/api/lineage", run=maker.id, name="model", version=1)
    nodes = {node["id"]: f"{node['kind']} {node['name']}" for node in graph["nodes"]}  # type: ignore[attr-defined]
    edges = sorted((nodes[edge["source"]], nodes[edge["target"]]) for edge in graph["edges"])  # type: ignore[attr-defined]
    assert edges == [
        ("artifact model", "run user"),
        ("artifact model", "run user"),
        ("run maker", "artifact model"),
        ("run maker", "artifact model"),
        ("run user", "artifact eval"),
    ]


def test_what_was_logged_here_last_wins_and_no_server_is_needed_for_it(
    tmp_path: Path, logged_in: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEPSCOPE_TOKEN", TOKEN)
    one, two = tmp_path / "one", tmp_path / "two"
    with training(one, "first") as run:
        run.log_artifact({"w": b"1"}, name="model")
    send(one, logged_in)
    with training(two, "second") as run:
        assert run.use_artifact("model").file.read_bytes() == b"1"
        run.log_artifact({"w": b"2"}, name="model")
        assert run.use_artifact("model").file.read_bytes() == b"2"
        assert run.use_artifact("model", server="http://127.0.0.1:9").file.read_bytes() == b"2"
        assert run.use_artifact("model:v0", dest=tmp_path / "mine").path == tmp_path / "mine"
        assert (tmp_path / "mine" / "w").read_bytes() == b"1"  # the server's numbers count


class Cutting(Remote):
    """Sends a few bytes at a time, and nothing at all for a while."""

    left = 3
    spans: list[int]

    def blob(self, run: str, sha256: str, start: int, end: int) -> bytes:
        if self.left == 0:
            raise Unreachable("the network is gone")
        self.left -= 1
        self.spans.append(start)
        return super().blob(run, sha256, start, min(end, start + 50_000))


def test_a_download_that_was_cut_goes_on_where_it_stopped(tmp_path: Path, server: Running) -> None:
    with training(tmp_path / "one", "maker") as maker:
        record = maker.log_artifact({"w.bin": WEIGHTS}, name="model")
    assert record is not None
    send(tmp_path / "one", server)
    sha256, target = record.files[0].sha256, tmp_path / "w.bin"
    remote = Cutting(server.url, TOKEN)
    remote.spans = []
    with remote, pytest.raises(Unreachable):
        download(remote, maker.id, sha256, len(WEIGHTS), target, sleep=lambda seconds: None)
    assert not target.exists()
    remote.left = 99
    assert download(remote, maker.id, sha256, len(WEIGHTS), target) == 150_000
    assert remote.spans == [0, 50_000, 100_000, 150_000, 200_000, 250_000]
    assert target.read_bytes() == WEIGHTS
    assert download(remote, maker.id, sha256, len(WEIGHTS), target) == 0
    remote.close()


def test_wrong_bytes_never_become_the_file(tmp_path: Path, server: Running) -> None:
    with training(tmp_path / "one", "maker") as maker:
        record = maker.log_artifact({"w.bin": WEIGHTS}, name="model")
    assert record is not None
    send(tmp_path / "one", server)
    sha256, target = record.files[0].sha256, tmp_path / "w.bin"
    (tmp_path / f".{sha256}.part").write_bytes(b"what a power cut has left")
    with Remote(server.url, TOKEN) as remote:
        with pytest.raises(BadData, match="fetch it again"):
            download(remote, maker.id, sha256, len(WEIGHTS), target)
        assert not target.exists()
        assert download(remote, maker.id, sha256, len(WEIGHTS), target) == len(WEIGHTS)
    assert artifacts._hash(target) == sha256


def test_restore_fetches_from_a_server(tmp_path: Path, logged_in: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    with training(tmp_path / "one", "maker") as maker:
        maker.log_artifact({"w.bin": WEIGHTS}, name="model", aliases="best")
    send(tmp_path / "one", logged_in)
    monkeypatch.chdir(tmp_path)
    words = ["restore", "vae", "model:best", "--from", logged_in.url]
    assert CliRunner().invoke(commands, words, catch_exceptions=False).exit_code == 0
    assert (tmp_path / "model-v0" / "w.bin").read_bytes() == WEIGHTS
