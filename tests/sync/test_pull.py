"""Runs that come back from a server."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults.rounds import chance, times
from tests.team import TOKEN, team_server

from stepscope.runs.compact.compact import compact
from stepscope.runs.read.folder import open_run
from stepscope.runs.trash import move_to_trash
from stepscope.server.serve import Running
from stepscope.sync.pull import Fetched, pull
from stepscope.sync.push import Pushed, push
from stepscope.sync.remote import Remote, Unreachable
from stepscope.views.edit import EditRequest, changes, write_changes

from .fault_proxy import FaultProxy
from .test_sync import Counting, bytes_of, environment, make


@pytest.fixture
def server(store: Path) -> Iterator[Running]:
    with team_server(store, compact=False) as server:
        yield server


@pytest.fixture
def remote(server: Running) -> Iterator[Remote]:
    with Remote(server.url, TOKEN) as remote:
        yield remote


def test_all_runs_come_back_byte_for_byte(store: Path, tmp_path: Path, remote: Remote) -> None:
    runs = [make(store), make(store)]
    done = pull(remote, tmp_path / "laptop")
    assert (done.runs, done.bytes, done.problems) == (2, sum(map(len, bytes_of(store).values())), {})
    assert bytes_of(tmp_path / "laptop") == bytes_of(store)
    assert pull(remote, tmp_path / "laptop") == Pushed(runs=2)
    assert pull(remote, tmp_path / "one", [runs[0].name]).runs == 1


def test_who_goes_on_fetching_asks_only_about_what_changed(store: Path, tmp_path: Path, server: Running) -> None:
    runs = [make(store), make(store)]
    fetched = Fetched(tmp_path / "laptop")
    with Counting(server.url) as remote:
        assert pull(remote, fetched).runs == 2
        remote.asked.clear()
        assert pull(remote, fetched).runs == 0
        assert remote.asked == ["/api/sync"]
        write_changes(runs[1], runs[1].name, changes(EditRequest(runs=[runs[1].name], add_tags=["theirs"])))
        assert pull(remote, fetched).runs == 1
    assert open_run(tmp_path / "laptop" / runs[1].name).tags == ["theirs"]


def test_edits_of_both_sides_meet(store: Path, tmp_path: Path, remote: Remote) -> None:
    run = make(store)
    pull(remote, tmp_path / "laptop")
    copy = tmp_path / "laptop" / run.name
    write_changes(copy, run.name, changes(EditRequest(runs=[run.name], add_tags=["mine"])))
    write_changes(run, run.name, changes(EditRequest(runs=[run.name], add_tags=["theirs"])))
    push([copy], remote)
    assert pull(remote, tmp_path / "laptop").problems == {}
    assert sorted(open_run(copy).tags) == sorted(open_run(run).tags) == ["mine", "theirs"]


def test_what_is_compacted_or_deleted_here_stays_so(store: Path, tmp_path: Path, remote: Remote) -> None:
    kept, deleted = make(store, points=3000), make(store)
    laptop = tmp_path / "laptop"
    pull(remote, laptop)
    assert compact(laptop / kept.name).files == 1
    move_to_trash(laptop / deleted.name)
    assert pull(remote, laptop) == Pushed(runs=1)
    assert not (laptop / deleted.name).exists()


def test_a_file_that_differs_here_is_kept(store: Path, tmp_path: Path, remote: Remote) -> None:
    run = make(store)
    laptop = tmp_path / "laptop"
    pull(remote, laptop)
    log = next((laptop / run.name).glob("*.log"))
    changed = bytearray(log.read_bytes()[:-16])  # without its seal, and a bit wrong far before
    changed[100] ^= 1
    log.write_bytes(changed)
    assert list(pull(remote, laptop).problems) == [f"{run.name}/{log.name}"]
    assert log.read_bytes() == changed


def test_runs_come_back_through_a_faulty_network(store: Path, tmp_path: Path, server: Running) -> None:
    make(store, points=2000)
    for number in range(times(2)):
        laptop = tmp_path / f"laptop-{number}"
        with FaultProxy(server.url, chance(number)) as proxy, Remote(proxy.url, TOKEN, timeout_s=20) as remote:
            for _ in range(200):
                try:
                    assert pull(remote, laptop).problems == {}
                except Unreachable:
                    continue
                break
            proxy.heal()
            pull(remote, laptop)
        assert bytes_of(laptop) == bytes_of(store)


def test_the_command_brings_runs_back(store: Path, tmp_path: Path, server: Running) -> None:
    make(store)
    words = [sys.executable, "-m", "stepscope", "sync", str(tmp_path / "laptop")]
    back = [*words, "--from", server.url]
    done = subprocess.run(back, env=environment(), capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.startswith("received ")) == (0, True), done.stderr
    assert bytes_of(tmp_path / "laptop") == bytes_of(store)
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, timeout=120)
    assert (done.returncode, "pass --to URL or --from URL, or log in once" in done.stderr) == (2, True)
