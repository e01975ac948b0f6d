"""`stepscope login`, and what `sync` may do with a token."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.runs.making import make_run
from tests.team import TOKEN, join, people_in

from stepscope.database.engine import Database
from stepscope.errors import ConfigError, Forbidden
from stepscope.people.tokens import make_token, tokens_of
from stepscope.people.users import find_user
from stepscope.server.serve import Running, running
from stepscope.server.settings import Settings
from stepscope.sync.pull import pull
from stepscope.sync.push import push
from stepscope.sync.remote import Remote, Unreachable
from stepscope.sync.servers import Login, forget_login, login_for, logins, save_login, servers_file


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "server"


@pytest.fixture
def people(home: Path) -> Iterator[Database]:
    with people_in(home) as people:
        yield people


@pytest.fixture
def server(home: Path, people: Database) -> Iterator[Running]:
    with running([home], Settings(token=None, ingest=home, people=people, compact=False)) as server:
        yield server


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSCOPE_CONFIG", str(tmp_path / "config"))


def stepscope(*words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "stepscope", *words]
    return subprocess.run(command, input=typed, capture_output=True, text=True, timeout=120)


def test_an_invitation_logs_a_machine_in_and_sync_sends_there(
    store: Path, home: Path, people: Database, server: Running
) -> None:
    ada = find_user(people, "ada")
    _, invite = make_token(people, ada.id, "invite", lifetime_s=60)
    done = stepscope("login", f"{server.url}/?token={invite}")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"Logged in to {server.url} as ada; `stepscope sync` sends runs there.\n"
    assert stat.S_IMODE(servers_file().stat().st_mode) == 0o600
    run = make_run(store, series={"loss": [1.0]})
    done = stepscope("sync", str(store))
    assert (done.returncode, (home / run.name / "meta.json").exists()) == (0, True), done.stderr
    again = stepscope("login", f"{server.url}/?token={invite}")
    assert (again.returncode, "the invitation has been used" in again.stderr) == (4, True)
    assert len(tokens_of(people, ada.id)) == 2  # that of the fixture and that of this machine
    gone = stepscope("login", server.url, "--forget")
    assert (gone.returncode, gone.stdout) == (0, f"Logged out of {server.url}.\n")
    assert len(tokens_of(people, ada.id)) == 1
    assert logins() == []


def test_a_token_is_typed_and_tried_before_it_is_kept(server: Running) -> None:
    wrong = stepscope("login", server.url, typed="stepscope_wrong\n")
    assert (wrong.returncode, "does not know this token" in wrong.stderr) == (4, True)
    assert logins() == []
    done = stepscope("login", server.url, "--json", typed=f"{TOKEN}\n")
    assert json.loads(done.stdout)["user"] == "ada"
    assert login_for(server.url) == login_for(None) == Login(server.url, TOKEN, "ada")


def test_the_last_login_is_the_usual_one(tmp_path: Path) -> None:
    one, two = Login("http://one:1", "a" * 20), Login("http://two:2", "b" * 20)
    save_login(one)
    save_login(two)
    assert (login_for(None), login_for("http://one:1/")) == (two, one)
    save_login(one)
    assert logins() == [one, two]
    assert forget_login("http://one:1") is True
    assert forget_login("http://one:1") is False
    assert logins() == [two]


def test_a_file_that_others_can_read_is_refused() -> None:
    save_login(Login("http://one:1", "a" * 20))
    os.chmod(servers_file(), 0o644)
    with pytest.raises(Forbidden, match="chmod 600"):
        logins()
    os.chmod(servers_file(), 0o600)
    servers_file().write_text("{")
    with pytest.raises(ConfigError, match="log in again"):
        logins()


def test_a_sender_sends_and_reads_nothing(store: Path, tmp_path: Path, people: Database, server: Running) -> None:
    token = join(people, "gpu-box", "writer", "vision", scopes=("ingest",))
    mine = make_run(store, project="vision", series={"loss": [1.0]})
    other = make_run(store, project="text", series={"loss": [1.0]})
    with Remote(server.url, token) as sender:
        done = push([other, mine], sender)
        assert list(done.problems) == [other.name]
        assert "gpu-box may not ingest in project 'text'" in done.problems[other.name]
        with pytest.raises(Forbidden, match="needs the scope 'read'"):
            pull(sender, tmp_path / "back", [mine.name])
    with Remote(server.url, TOKEN) as admin:
        assert admin.runs().runs == [mine.name]


def test_a_viewer_fetches_their_project_only(store: Path, tmp_path: Path, people: Database, server: Running) -> None:
    runs = {name: make_run(store, project=name, series={"loss": [1.0]}) for name in ("vision", "text")}
    with Remote(server.url, TOKEN) as admin:
        assert push(runs.values(), admin).problems == {}
    with Remote(server.url, join(people, "bo", "viewer", "vision")) as viewer:
        assert pull(viewer, tmp_path / "back").runs == 1
        with pytest.raises(Forbidden, match="may not ingest"):
            viewer.add(runs["vision"].name, "notes.bin", 0, b"x", sha256="0" * 64, size=1)
    assert [path.name for path in (tmp_path / "back").glob("0*")] == [runs["vision"].name]


def test_a_new_run_must_say_at_once_which_project_it_is_of(store: Path, people: Database, server: Running) -> None:
    token = join(people, "bo", "writer", "vision")
    run = make_run(store, project="vision", series={"loss": [1.0]})
    meta = (run / "meta.json").read_bytes()
    with Remote(server.url, token) as remote, pytest.raises(Forbidden, match="no known project"):
        remote.add(run.name, "meta.json", 0, meta[:40], sha256="0" * 64, size=len(meta))


def test_the_first_start_prints_a_link_that_works_once(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "stepscope", "server", str(tmp_path / "new"), "--port", "0", "--json"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        printed = json.loads(process.stdout.readline())
        with httpx.Client(base_url=printed["url"], headers={"x-stepscope": "1"}) as browser:
            assert browser.get("/api/info").status_code == 401
            for _ in range(2):  # a chat that looks into the link uses nothing up
                assert "Sign in as" in browser.get(printed["address"]).text
            assert browser.get("/api/info").status_code == 401
            form = {"invitation": printed["token"]}
            elsewhere = browser.post("/login/invitation", data=form, headers={"origin": "http://evil.example"})
            assert (elsewhere.status_code, browser.get("/api/info").status_code) == (403, 401)
            ours = {"origin": printed["url"], "accept": "text/html"}
            assert browser.post("/login/invitation", data=form, headers=ours).status_code == 303
            again = browser.post("/login/invitation", data=form, headers=ours)
            assert (again.status_code, "has been used" in again.text) == (403, True)
            me = browser.get("/api/me").json()
            assert (me["admin"], me["kind"]) == (True, "session")
            made = browser.post("/api/tokens/make", json={"name": "laptop", "scopes": ["read"]}).json()
            assert browser.post("/api/logout", json={}).status_code == 200
            assert browser.get("/api/me").status_code == 401
            bearer = {"authorization": f"Bearer {made['secret']}"}
            assert browser.get("/api/info", headers=bearer).json()["user"] == me["name"]
            refused = browser.post("/api/tokens/make", json={"name": "x", "scopes": ["admin"]}, headers=bearer)
            assert refused.status_code == 403
            assert httpx.get(printed["address"]).status_code == 401
    finally:
        process.kill()
        process.wait(60)
        assert process.stdout is not None
        process.stdout.close()
    folder = ["--folder", str(tmp_path / "new")]
    added = json.loads(stepscope("server", "users", "add", "bo", "--role", "viewer", "--json", *folder).stdout)
    assert added["link"].startswith(f"{printed['url']}/?token=stepscope_")
    listed = json.loads(stepscope("server", "users", "--json", *folder).stdout)["users"]
    assert [(user["name"], user["roles"]) for user in listed if user["name"] == "bo"] == [("bo", ["viewer in *"])]
    token = json.loads(stepscope("server", "tokens", "make", "bo", "--scope", "read", "--json", *folder).stdout)
    assert token["id"] in stepscope("server", "tokens", *folder).stdout
    assert stepscope("server", "tokens", "revoke", token["id"], *folder).returncode == 0
    assert token["id"] not in stepscope("server", "tokens", *folder).stdout
    assert stepscope("server", "teams", "set", "lab", "bo", *folder).returncode == 0
    assert stepscope("server", "teams", "role", "lab", "writer", "--project", "vision", *folder).returncode == 0
    assert stepscope("server", "teams", *folder).stdout == "lab: bo; writer in vision\n"
    assert stepscope("server", "teams", "remove", "lab", *folder).returncode == 0
    assert json.loads(stepscope("server", "teams", "--json", *folder).stdout) == {"teams": []}
    missing = stepscope("server", "users", "--folder", str(tmp_path / "none"))
    assert (missing.returncode, "there is no server in" in missing.stderr) == (3, True)


def test_a_token_that_is_refused_says_why_and_where_a_new_one_goes(
    store: Path, tmp_path: Path, people: Database, server: Running
) -> None:
    ada = find_user(people, "ada")
    _, expired = make_token(people, ada.id, lifetime_s=1e-6)
    file = tmp_path / "token"
    file.write_text(expired)
    make_run(store, series={"loss": [1.0]})
    today = time.strftime("%Y-%m-%d", time.gmtime())
    done = stepscope("sync", str(store), "--to", server.url, "--token-file", str(file))
    said = f"error: {server.url} answered: This token expired on {today}. "
    words = f"{said}Make a new one there, and put it into {file}\n"
    assert (done.returncode, done.stderr) == (4, words)
    file.write_text("\n")
    assert "is empty" in stepscope("sync", str(store), "--to", server.url, "--token-file", str(file)).stderr


def test_a_token_that_may_only_send_is_told_so_when_it_asks_for_runs(
    store: Path, people: Database, server: Running
) -> None:
    _, narrow = make_token(people, find_user(people, "ada").id, scopes=["ingest"])
    with Remote(server.url, narrow) as remote, pytest.raises(Forbidden, match="needs the scope 'read'"):
        pull(remote, store)


def test_an_address_without_a_server_says_what_to_look_at(server: Running) -> None:
    port = server.url.rpartition(":")[2]
    for url, words in (
        ("http://127.0.0.1:1", "no server listens there; check the address, and that the server runs"),
        ("http://no-such-host.invalid", "there is no machine of this name; check the address, and the network"),
        (f"https://127.0.0.1:{port}", "it does not speak HTTPS; begin the address with http://"),
    ):
        with Remote(url, TOKEN) as remote, pytest.raises(Unreachable) as raised:
            remote.me()
        assert str(raised.value) == f"{url} cannot be reached: {words}"
