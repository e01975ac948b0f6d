"""People sign in at an identity provider: a real one, in a process of its own on this machine."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from tests.team import people_in

from stepscope.database.engine import Database
from stepscope.errors import ConfigError, Forbidden
from stepscope.people.oidc_users import Identity, user_for
from stepscope.people.users import add_user, change_user, find_user, users
from stepscope.server.oidc import Oidc
from stepscope.server.serve import Running, running
from stepscope.server.settings import Settings


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    words = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://localhost:{port}"
    try:
        for _ in range(600):
            try:
                httpx.get(f"{url}/.well-known/openid-configuration").raise_for_status()
                break
            except httpx.HTTPError:
                assert process.poll() is None, "the provider ended"
                time.sleep(0.1)
        ada = {"email": "ada@example.org", "email_verified": True, "preferred_username": "ada.l"}
        httpx.put(f"{url}/users/ada-at-provider", json=ada).raise_for_status()
        httpx.put(f"{url}/users/eve", json={"email": "ada@example.org", "email_verified": False}).raise_for_status()
        yield url
    finally:
        process.kill()
        process.wait(60)


@pytest.fixture
def people(tmp_path: Path) -> Iterator[Database]:
    with people_in(tmp_path / "people") as people:
        yield people


@pytest.fixture
def server(provider: str, people: Database, store: Path) -> Iterator[Running]:
    oidc = Oidc(provider, "stepscope", "the-client-secret", role=None)
    with running([store], Settings(token=None, people=people, oidc=oidc)) as server:
        yield server


def browser(server: Running) -> httpx.Client:
    return httpx.Client(base_url=server.url, headers={"x-stepscope": "1", "accept": "text/html"}, timeout=60)


def come_back(client: httpx.Client, who: str) -> str:
    """Sign in at the provider as this user; returns the address that it leads back to."""
    begun = client.get("/login")
    assert begun.status_code == 303
    answer = httpx.post(begun.headers["location"], data={"sub": who}, timeout=60)
    assert answer.status_code in (302, 303), answer.text
    return str(answer.headers["location"])


def test_somebody_whom_an_admin_added_signs_in(server: Running, people: Database) -> None:
    add_user(people, "lovelace", email="Ada@example.org", admin=True)
    with browser(server) as client:
        page = client.get("/")
        assert (page.status_code, 'href="/login">Sign in</a>' in page.text) == (401, True)
        back = come_back(client, "ada-at-provider")
        done = client.get(back)
        assert done.status_code == 200, done.text
        assert re.search(r"stepscope-\d+=stepscope_[^;]+; HttpOnly; .*SameSite=strict", done.headers["set-cookie"])
        me = client.get("/api/me").json()
        assert (me["name"], me["kind"], me["admin"]) == ("lovelace", "session", True)
        assert client.get(back).status_code == 403  # what was begun in this browser is over
    with browser(server) as client:
        assert client.get(come_back(client, "ada-at-provider")).status_code == 200
        assert client.get("/api/me").json()["name"] == "lovelace"
        change_user(people, "lovelace", disabled=True)
        assert client.get("/api/me").status_code == 401
        assert client.get(come_back(client, "ada-at-provider")).status_code == 403


def test_an_address_that_was_not_verified_opens_nothing(server: Running, people: Database) -> None:
    add_user(people, "lovelace", email="ada@example.org", admin=True)
    with browser(server) as client:
        done = client.get(come_back(client, "eve"))
        assert (done.status_code, "not a user of this server" in done.text) == (403, True)
        assert "stepscope_" not in str(done.headers)
    assert [user.name for user in users(people)] == ["ada", "lovelace"]


def test_a_sign_in_of_another_browser_is_refused(server: Running, people: Database) -> None:
    add_user(people, "lovelace", email="ada@example.org")
    with browser(server) as client, browser(server) as victim:
        back = come_back(client, "ada-at-provider")
        assert victim.get(back).status_code == 403
        come_back(victim, "ada-at-provider")
        assert victim.get(back).status_code == 403  # the state is that of the other browser
        state = parse_qs(urlsplit(back).query)["state"][0]
        assert client.get(f"/login/done?code=made-up&state={state}").status_code == 502
        client.cookies.set("stepscope-login", "e30=.0000", domain="127.0.0.1", path="/login")
        assert client.get(back).status_code == 403


def test_newcomers_get_a_role_and_a_name_of_their_own(people: Database) -> None:
    first = user_for(people, Identity("https://id a", "bo@example.org", "bo"), "viewer")
    assert (first.name, user_for(people, Identity("https://id a", None, "other"), None)) == ("bo", first)
    second = user_for(people, Identity("https://id b", None, "bo"), "viewer")
    assert second.name.startswith("bo-")
    assert find_user(people, second.name).admin is False
    with pytest.raises(Forbidden, match="'cy' is not a user"):
        user_for(people, Identity("https://id c", None, "cy"), None)


def test_a_provider_without_tls_or_a_secret_is_refused() -> None:
    with pytest.raises(ConfigError, match="https"):
        Oidc("http://id.example.org", "x", "y").checked()
    with pytest.raises(ConfigError, match="STEPSCOPE_OIDC_SECRET"):
        Oidc("https://id.example.org", "x", "").checked()
