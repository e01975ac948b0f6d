"""Runs on their way to a server: byte for byte, once, however the network and the processes behave."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from hashlib import sha256
from http.client import HTTPResponse
from pathlib import Path
from zlib import crc32

import httpx
import pytest
from tests.faults.rounds import chance, note_tries, times
from tests.runs.making import make_run
from tests.team import TOKEN, people_in, team_server

from stepscope.errors import Forbidden, UsageError
from stepscope.records import RunMeta
from stepscope.runs.compact.compact import compact
from stepscope.runs.format.blobs import put_bytes
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run, run_folders
from stepscope.runs.read.folder import open_run
from stepscope.runs.trash import move_to_trash, purge, restore
from stepscope.runs.write.writer import RunWriter
from stepscope.server.serve import Running, running
from stepscope.server.settings import Settings
from stepscope.sync.checksums import Checksums
from stepscope.sync.fates import Fates, local_fates
from stepscope.sync.pull import pull
from stepscope.sync.push import Pushed, patiently, push
from stepscope.sync.remote import Remote, Unreachable
from stepscope.sync.sent import AGAIN_S, Sent
from stepscope.sync.settled import SETTLED
from stepscope.views.edit import EditRequest, changes, write_changes

from .bad_servers import liar, lying_server
from .fault_proxy import FaultProxy


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "server"


@pytest.fixture
def server(home: Path) -> Iterator[Running]:
    with team_server(home, compact=False, poll_s=0.05) as server:
        yield server


@pytest.fixture
def remote(server: Running) -> Iterator[Remote]:
    with Remote(server.url, TOKEN) as remote:
        yield remote


def make(store: Path, points: int = 500) -> Path:
    run = make_run(store, series={"loss": [1 / (step + 1) for step in range(points)], "lr": [0.1] * 10})
    put_bytes(run, os.urandom(3 << 20))
    return run


def bytes_of(store: Path) -> dict[str, bytes]:
    """All files of the runs in a store."""
    return {
        path.relative_to(store).as_posix(): path.read_bytes()
        for run in run_folders(store)
        for path in run.rglob("*")
        if path.is_file()
    }


def test_the_copy_is_the_same_and_the_app_shows_it(store: Path, home: Path, server: Running, remote: Remote) -> None:
    runs = [make(store), make(store)]
    done = push(runs, remote)
    assert (done.runs, done.bytes, done.problems) == (2, sum(map(len, bytes_of(store).values())), {})
    assert bytes_of(home) == bytes_of(store)
    assert push(runs, remote) == Pushed(runs=2)  # nothing is sent twice
    headers = {"authorization": f"Bearer {TOKEN}", "x-stepscope": "1"}
    shown: set[str] = set()
    for _ in range(300):  # the server looks at its folder now and then
        page = httpx.post(f"{server.url}/api/runs", json={}, headers=headers).json()
        shown = {row["id"] for row in page["rows"]}
        if len(shown) == 2:
            break
        time.sleep(0.1)
    assert shown == {run.name for run in runs}


def test_a_growing_run_is_followed_and_others_add_to_it(store: Path, home: Path, remote: Remote) -> None:
    about = RunMeta(id=new_run_id(), project="p", name="first", created=time.time())
    run = create_run(store, about)
    writer = RunWriter(run, run_id=about.id, heartbeat_s=0, fsync_s=0)
    row = writer.keyset(("loss",))
    for step in range(3):
        row.write(step, (float(step),))
        push([run], remote)
        assert open_run(home / about.id).series("loss").values.tolist() == [float(each) for each in range(step + 1)]
    write_changes(home / about.id, about.id, changes(EditRequest(runs=[about.id], add_tags=["there"])))
    write_changes(run, about.id, changes(EditRequest(runs=[about.id], add_tags=["here"])))
    writer.close()
    assert push([run], remote).problems == {}
    assert sorted(open_run(home / about.id).tags) == ["here", "there"]


def test_a_run_that_was_compacted_after_it_was_sent_reads_the_same(store: Path, home: Path, remote: Remote) -> None:
    run = make(store, points=3000)
    push([run], remote)
    assert compact(run).files == 1
    assert push([run], remote).problems == {}
    assert open_run(home / run.name).series("loss").values.tolist() == open_run(run).series("loss").values.tolist()


def test_a_file_that_differs_is_reported_and_the_rest_is_sent(store: Path, home: Path, remote: Remote) -> None:
    run, other = make(store), make(store)
    push([run], remote)
    log = next(path for path in (home / run.name).glob("*.log"))
    copy = log.read_bytes()
    log.write_bytes(copy[:-200])  # the server has less of it, and other bytes
    changed = bytearray((run / log.name).read_bytes())
    changed[100] ^= 1
    (run / log.name).write_bytes(changed)
    done = push([run, other], remote)
    assert list(done.problems) == [f"{run.name}/{log.name}"]
    assert "other bytes on the server" in next(iter(done.problems.values()))
    assert copy.startswith(log.read_bytes())
    assert {name for name in bytes_of(home) if name.startswith(other.name)} == {
        name for name in bytes_of(store) if name.startswith(other.name)
    }


class Counting(Remote):
    """Counts the questions, and loses one in `loses`."""

    def __init__(self, url: str, loses: int = 10**9) -> None:
        super().__init__(url, TOKEN)
        self.asked: list[str] = []
        self._loses = loses

    def _call(self, method: str, path: str, body: bytes | None = None, more: dict[str, str] | None = None) -> bytes:
        self.asked.append(path)
        if len(self.asked) % self._loses == 0:
            raise Unreachable("lost")
        return super()._call(method, path, body, more)


def test_who_goes_on_sending_asks_only_about_what_changed(store: Path, server: Running) -> None:
    runs, now = [make(store), make(store)], [0.0]
    sent = Sent(clock=lambda: now[0])
    with Counting(server.url) as remote:

        def passed() -> tuple[int, int]:
            remote.asked.clear()
            done = push(sent.pending(runs), remote, sent=sent)
            return done.runs, len(remote.asked)

        assert passed()[0] == 2
        passed()  # folders that are new may change within the same tick of their clock
        assert passed() == (0, 0)
        write_changes(runs[0], runs[0].name, changes(EditRequest(runs=[runs[0].name], add_tags=["here"])))
        assert passed() == (1, 2)
        passed()
        assert passed() == (0, 0)
        now[0] = 2 * AGAIN_S
        assert passed() == (2, 2)  # the server may have lost them


def test_a_bad_network_does_not_keep_the_newest_run_back(store: Path, home: Path, server: Running) -> None:
    """One request of three is lost: a pass over all runs that begins again after each fault would never end."""
    for _ in range(15):
        make_run(store, series={"loss": [1.0]})
    newest, sent = max(run_folders(store)), Sent()
    passes: list[bool] = []
    with Counting(server.url, loses=3) as remote:

        def once() -> Pushed:
            try:
                return push(sent.pending(run_folders(store)), remote, sent=sent)
            finally:
                passes.append((home / newest.name).exists())

        patiently(once, tries=3, sleep=lambda _: None)
    assert passes[0]
    assert bytes_of(home) == bytes_of(store)
    assert len(remote.asked) < 15 * 8


def test_checksums_follow_a_file_that_grows_and_one_that_is_replaced(tmp_path: Path) -> None:
    log, checksums = tmp_path / "a.log", Checksums()
    log.write_bytes(b"one")
    assert checksums.before(tmp_path, "a.log", 2) == crc32(b"on")
    with log.open("ab") as file:
        file.write(b"two")
    assert [checksums.before(tmp_path, "a.log", end) for end in (6, 3)] == [crc32(b"onetwo"), crc32(b"one")]
    (tmp_path / "new").write_bytes(b"other")
    (tmp_path / "new").rename(log)
    assert checksums.before(tmp_path, "a.log", 5) == crc32(b"other")
    assert checksums.whole(tmp_path, "a.log") == (sha256(b"other").hexdigest(), 5)
    (tmp_path / "new").write_bytes(b"third")
    (tmp_path / "new").rename(log)
    assert checksums.whole(tmp_path, "a.log") == (sha256(b"third").hexdigest(), 5)


def test_who_has_no_token_can_send_and_see_nothing(store: Path, home: Path, server: Running) -> None:
    run = make(store)
    with Remote(server.url, "wrong-token-wrong-token") as stranger, pytest.raises(Forbidden, match="stepscope login"):
        push([run], stranger)
    answer = httpx.post(
        f"{server.url}/api/sync/{run.name}/meta.json?offset=0",
        content=b"x",
        headers={"authorization": f"Bearer {TOKEN}", "content-type": "text/plain", "x-stepscope": "1"},
    )
    assert answer.status_code == 403  # a form of another page can send this type
    assert bytes_of(home) == {}


def test_a_server_without_ingest_takes_nothing(store: Path, tmp_path: Path) -> None:
    (tmp_path / "ui").mkdir()
    run = make(store)
    with (
        running([tmp_path / "ui"], Settings(token=TOKEN)) as server,
        Remote(server.url, TOKEN) as remote,
        pytest.raises(UsageError, match="There is no GET /api/sync"),
    ):
        push([run], remote)


def test_everything_arrives_once_through_a_faulty_network(store: Path, home: Path, server: Running) -> None:
    tried = 0
    for number in range(times(4)):
        dice = chance(number)
        with FaultProxy(server.url, dice) as proxy, Remote(proxy.url, TOKEN, timeout_s=20) as remote:
            runs = [make(store, points=dice.randrange(2000))]
            for _ in range(200):
                try:
                    done = push(runs, remote)
                except Unreachable:
                    continue
                assert done.problems == {}
                break
            proxy.heal()
            assert push(runs, remote).problems == {}
            tried += sum(proxy.faults.values()) - proxy.faults[""]
    assert bytes_of(home) == bytes_of(store)
    assert tried > 4
    note_tries(tried)


# -- kill -9 ----------------------------------------------------------------------------------------------------


def start(home: Path, port: int) -> subprocess.Popen[str]:
    with people_in(home):
        pass
    words = [sys.executable, "-m", "stepscope", "server", str(home), "--port", str(port), "--json"]
    said = home.with_name("said")
    with open(said, "w") as errors:
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment())
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, f"the server ended before it listened: {said.read_text()}"
    assert json.loads(line)["url"] == f"http://127.0.0.1:{port}"
    return process


def environment() -> dict[str, str]:
    return {**os.environ, "STEPSCOPE_TOKEN": TOKEN}


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait(60)
    if process.stdout is not None:
        process.stdout.close()


def test_killed_clients_and_servers_lose_nothing(store: Path, home: Path, port: int) -> None:
    """`stepscope sync --follow` beside a server, both killed at random moments while runs come in."""
    sync = [sys.executable, "-m", "stepscope", "sync", str(store), "--to", f"http://127.0.0.1:{port}"]
    make(store)
    rounds = times(2)
    for number in range(rounds):
        dice = chance(100 + number)
        server = start(home, port)
        client = subprocess.Popen([*sync, "--follow"], env=environment(), stderr=subprocess.DEVNULL, text=True)
        try:
            make(store)
            time.sleep(dice.uniform(0.2, 1.5))
        finally:
            for process in (client, server) if dice.random() < 0.5 else (server, client):
                kill(process)
    server = start(home, port)
    try:
        done = subprocess.run(sync, env=environment(), capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        of_its_own = (".sync-", SETTLED)  # halves of blobs, and what it notes of logs before it compacts them
        kept = {name: data for name, data in bytes_of(home).items() if not any(one in name for one in of_its_own)}
        assert kept == bytes_of(store)
    finally:
        kill(server)
    note_tries(2 * rounds)


def test_a_server_that_is_away_is_waited_for(store: Path, home: Path, port: int) -> None:
    make(store)
    said: list[str] = []
    with Remote(f"http://127.0.0.1:{port}", TOKEN) as remote:
        with pytest.raises(Unreachable, match="cannot be reached"):
            patiently(lambda: push(run_folders(store), remote), tries=3, say=said.append, sleep=lambda _: None)
        assert len(said) == 1
        with team_server(home, port, compact=False):
            patiently(lambda: push(run_folders(store), remote), tries=3)
    assert bytes_of(home) == bytes_of(store)


# -- servers that are dead, slow or lie ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [b'{"files":{}}', b'{"size":0}', b'{"size":7,"gap":true}', b'{"size":99999999999}', b"<html>", b"[[[[", b"\0" * 50],
)
def test_a_lying_server_ends_in_an_error_and_nothing_here_is_touched(store: Path, answer: bytes) -> None:
    run = make(store)
    before = {path: (path.stat().st_mtime_ns, path.stat().st_mode) for path in (run, *run.rglob("*"))}
    bytes_before = bytes_of(store)
    with lying_server(answer) as url, Remote(url, TOKEN, timeout_s=20) as remote:
        try:
            push([run], remote)
        except Unreachable:
            pass
    assert {path: (path.stat().st_mtime_ns, path.stat().st_mode) for path in (run, *run.rglob("*"))} == before
    assert bytes_of(store) == bytes_before


PAGE = b"<!doctype html><title>Log in to the guest network</title>"
LIES: dict[str, tuple[bytes, bytes, bool]] = {
    "a page instead of an answer": (b"HTTP/1.1 200 OK\r\nContent-Type: text/html", PAGE, False),
    "an answer that never ends": (b"HTTP/1.1 200 OK", b"[" * 65536, True),
    "a length that is not true": (b"HTTP/1.1 200 OK\r\nContent-Length: 500", b'{"files":{}}', False),
    "chunks that are none": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked", b"zz\r\n{}\r\n", False),
    "no HTTP": (b"SSH-2.0-OpenSSH_9.6", b"", False),
    "a fault": (b"HTTP/1.1 500 No\r\nContent-Length: 2", b"{}", False),
}


@pytest.mark.parametrize("lie", LIES)
def test_every_lie_is_an_unreachable_server(store: Path, lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stepscope.sync.remote._LARGEST_ANSWER", 1 << 20)
    run = make(store)
    head, body, endless = LIES[lie]
    lying = liar(head, body, endless=endless)
    with lying as (url, _), Remote(url, TOKEN, timeout_s=20) as remote, pytest.raises(Unreachable):
        push([run], remote)


def test_an_answer_that_drips_is_given_up(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stepscope.sync.remote._LONGEST_S", 0.0)
    run = make(store)
    dripping, late = liar(b"HTTP/1.1 200 OK", b" ", endless=True), pytest.raises(Unreachable, match="took longer")
    with dripping as (url, _), Remote(url, TOKEN) as remote, late:
        push([run], remote)


def test_an_answer_that_fails_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[HTTPResponse] = []

    def fails(answer: HTTPResponse) -> bytes:
        answers.append(answer)
        raise TimeoutError

    monkeypatch.setattr("stepscope.sync.remote._whole", fails)
    with liar(b"HTTP/1.1 200 OK", b"no length") as (url, _), Remote(url, TOKEN) as remote:
        with pytest.raises(Unreachable):
            remote.runs()
        assert answers[0].isclosed()


def test_a_redirect_takes_the_token_nowhere(store: Path) -> None:
    run = make(store)
    with liar(b"HTTP/1.1 200 OK\r\nContent-Length: 12", b'{"files":{}}') as (elsewhere, stolen):
        moved = f"HTTP/1.1 307 Go\r\nContent-Length: 0\r\nLocation: {elsewhere}/api".encode()
        with liar(moved) as (url, _), Remote(url, TOKEN) as remote, pytest.raises(Unreachable, match="status 307"):
            push([run], remote)
    assert stolen == []


def test_a_server_that_does_not_speak_tls_is_unreachable(store: Path) -> None:
    run = make(store)
    with liar(b"HTTP/1.1 200 OK") as (url, heard):
        secure = url.replace("http:", "https:")
        with Remote(secure, TOKEN) as remote, pytest.raises(Unreachable):
            push([run], remote)
    assert heard == []


def test_a_server_that_claims_more_than_there_is_is_named(store: Path) -> None:
    run = make(store)
    with lying_server(b'{"size":99999999999}') as url, Remote(url, TOKEN) as remote:
        done = push([run], remote)
    assert [text for text in done.problems.values() if "more than there are" in text]


def test_two_servers_behind_one_address_share_a_folder(store: Path, home: Path) -> None:
    """Each piece goes to one or the other, also while the run grows: the copy is the same."""
    about = RunMeta(id=new_run_id(), project="p", name="first", created=time.time())
    run = create_run(store, about)
    writer = RunWriter(run, run_id=about.id, heartbeat_s=0, fsync_s=0)
    row = writer.keyset(("loss",))
    with (
        people_in(home) as people,
        running([home], Settings(token=None, ingest=home, people=people, compact=False)) as first,
        running([home], Settings(token=None, ingest=home, people=people, compact=False)) as second,
        Remote(first.url, TOKEN) as one,
        Remote(second.url, TOKEN) as other,
    ):
        for step in range(20):
            row.write(step, (float(step),))
            push([run], one if step % 2 else other)
        both = [threading.Thread(target=push, args=([make(store), run], remote)) for remote in (one, other)]
        for thread in both:
            thread.start()
        writer.close()
        for thread in both:
            thread.join(120)
        assert push(run_folders(store), one).problems == {}
        assert push(run_folders(store), other) == Pushed(runs=3)
    assert bytes_of(home) == bytes_of(store)


def test_deletions_and_restores_travel(store: Path, home: Path, remote: Remote, tmp_path: Path) -> None:
    kept, deleted = make(store), make(store)
    push([kept, deleted], remote)
    pull(remote, tmp_path / "laptop")
    trashed = move_to_trash(deleted)
    push([kept], remote, local_fates(store, [kept]))
    assert [run.name for run in run_folders(home)] == [kept.name]
    assert pull(remote, tmp_path / "laptop").deleted == 1  # deleted here, so on the server, so there
    assert [run.name for run in run_folders(tmp_path / "laptop")] == [kept.name]
    restore(trashed)
    runs = [kept, deleted]
    assert push(runs, remote, local_fates(store, runs)).deleted == 0
    assert bytes_of(home) == bytes_of(store)


def test_a_run_that_was_deleted_on_the_server_does_not_come_back_by_itself(
    store: Path, home: Path, remote: Remote
) -> None:
    run = make(store)
    push([run], remote)
    purged = move_to_trash(home / run.name)
    assert push([run], remote).deleted == 1
    Fates(home).note()
    purge(purged)
    assert push([run], remote).deleted == 1
    assert run_folders(home) == []
    assert run.exists()


def test_an_address_that_is_none_is_named_before_the_token(store: Path) -> None:
    words = [sys.executable, "-m", "stepscope", "sync", str(store), "--to", "ftp://x"]
    clean = {name: value for name, value in os.environ.items() if name != "STEPSCOPE_TOKEN"}
    done = subprocess.run(words, env=clean, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert "'ftp://x' is not the address of a server" in done.stderr


TRAINING = """
import sys, stepscope
run = stepscope.init(project="p", dir=sys.argv[1])
for step in range(200):
    run.log({"loss": 1 / (step + 1)}, step=step)
run.finish()
"""


@pytest.mark.parametrize("stopped", [False, True])
def test_a_training_beside_a_dead_or_stuck_sync_is_the_same(store: Path, stopped: bool, port: int) -> None:
    address = f"http://127.0.0.1:{port}"
    words = [sys.executable, "-m", "stepscope", "sync", str(store), "--follow", "--to", address]
    client = subprocess.Popen(words, env=environment(), stderr=subprocess.PIPE, text=True)
    try:
        assert client.stderr is not None
        make(store)
        assert "cannot be reached" in client.stderr.readline()
        if stopped:
            client.send_signal(signal.SIGSTOP)
        done = subprocess.run([sys.executable, "-c", TRAINING, str(store)], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
    finally:
        kill(client)
        assert client.stderr is not None
        client.stderr.close()
    values = [len(open_run(run).series("loss").values) for run in run_folders(store)]
    assert sorted(values) == [200, 500]
