"""No page on the internet and no other user of the machine can read or change anything (RELIABILITY 47 to 52, 63)."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from starlette.applications import Starlette

from stepscope.server.doors import Codes

from .conftest import TOKEN, Caller, every_call

EVIL_HOSTS = [
    "evil.example", "evil.example:7007", "127.0.0.1.evil.example", "localhost.evil.example", "localhost.", "0.0.0.0",
    "169.254.169.254", "192.168.1.5", "[::2]", "127.0.0.1@evil.example", "", " ", "a b", "[::1",
]  # fmt: skip


def test_every_route_needs_the_token(app: Starlette, stranger: Caller) -> None:
    calls = every_call(app)
    assert len(calls) > 12
    for method, path in calls:
        answer = stranger.request(method, path, json={}, headers={"X-Stepscope": "1"})
        assert answer.status_code == 401, f"{method} {path}"
        assert TOKEN not in answer.text


@pytest.mark.parametrize("host", EVIL_HOSTS)
def test_every_route_refuses_a_foreign_host_even_with_the_token(app: Starlette, client: Caller, host: str) -> None:
    for method, path in every_call(app):
        answer = client.request(method, path, json={}, headers={"host": host, "X-Stepscope": "1"})
        assert answer.status_code == 403, f"{method} {path}"


def test_every_api_route_refuses_a_foreign_origin_even_with_the_token(app: Starlette, client: Caller) -> None:
    for method, path in every_call(app):
        if not path.startswith("/api"):
            continue
        for header in (
            {"origin": "http://evil.example"},
            {"origin": "null"},
            {"origin": "http://127.0.0.1:9999"},
            {"sec-fetch-site": "cross-site"},
            {"sec-fetch-site": "same-site"},
        ):
            answer = client.request(method, path, json={}, headers={**header, "X-Stepscope": "1"})
            assert answer.status_code == 403, f"{method} {path} {header}"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:7007", "LOCALHOST", "[::1]:7007", "127.0.0.2", "lab.example"])
def test_names_of_this_machine_are_fine(client: Caller, host: str) -> None:
    assert client.get("/api/info", headers={"host": host}).status_code == 200


def test_the_token_in_the_address_becomes_a_cookie_and_leaves_the_address(stranger: Caller) -> None:
    answer = stranger.get(f"/charts?runs=a&token={TOKEN}&x=wall", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/charts?runs=a&x=wall")
    cookie = answer.headers["set-cookie"]
    assert re.match(r"stepscope-\d+=[0-9a-f]{64}; HttpOnly; Path=/; SameSite=strict$", cookie)
    assert TOKEN not in cookie
    assert stranger.get("/api/info").status_code == 200


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example/", "///evil.example", "/%5Cevil.example"])
def test_the_clean_address_never_leads_elsewhere(stranger: Caller, path: str) -> None:
    answer = stranger.get(f"http://127.0.0.1{path}?token={TOKEN}", follow_redirects=False)
    location = answer.headers.get("location", "/")
    assert location.startswith("/")
    assert not location.startswith(("//", "/\\"))


@pytest.mark.parametrize("token", ["", "x", TOKEN[:-1], TOKEN + "x", TOKEN.swapcase(), "é" * 10, "\udce9"])
def test_a_wrong_token_admits_nobody(stranger: Caller, token: str) -> None:
    answer = stranger.get("/", params={"token": token.encode("utf-8", "replace")}, follow_redirects=False)
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    header = b"Bearer " + token.encode("utf-8", "replace")
    assert stranger.get("/api/info", headers={b"authorization": header}).status_code == 401


def test_the_cookie_is_no_token_and_the_token_no_cookie(stranger: Caller) -> None:
    cookie = stranger.get(f"/?token={TOKEN}", follow_redirects=False).cookies
    [(name, value)] = cookie.items()
    stranger.cookies.clear()
    assert stranger.get("/api/info", headers={"authorization": f"Bearer {value}"}).status_code == 401
    assert stranger.get("/api/info", headers={"cookie": f"{name}={TOKEN}"}).status_code == 401
    assert stranger.get("/api/info", headers={"cookie": f"other=1; {name}={value}"}).status_code == 200


def test_a_token_in_an_api_address_is_not_taken(stranger: Caller) -> None:
    assert stranger.get(f"/api/info?token={TOKEN}").status_code == 401


def test_a_browser_is_told_how_to_get_in(stranger: Caller) -> None:
    answer = stranger.get("/charts", headers={"accept": "text/html"})
    assert answer.status_code == 401
    assert "stepscope ui" in answer.text
    assert '<a href="">Continue</a>' in answer.text


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_a_form_on_another_page_changes_nothing(client: Caller, content_type: str) -> None:
    headers = {"content-type": content_type, "x-stepscope": "1"}
    answer = client.post("/api/runs/edit", content=b'{"runs": [], "name": "x"}', headers=headers)
    assert answer.status_code == 403


def test_json_without_our_header_changes_nothing(client: Caller) -> None:
    answer = client.post("/api/runs/edit", {"runs": []}, headers={"x-stepscope": ""})
    assert answer.status_code == 403


def test_no_get_changes_state(app: Starlette) -> None:
    """GETs are pure by the shape of the code: only POST views may edit."""
    writing = {path for method, path in every_call(app) if method == "GET" and "edit" in path}
    assert writing == set()


def test_an_image_tag_on_another_page_gets_nothing(client: Caller) -> None:
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
    assert client.get(f"/api/blob/{'0' * 26}/{'a' * 64}", headers=headers).status_code == 403


def test_a_link_from_another_site_opens_a_page(client: Caller) -> None:
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert client.get("/charts", headers=headers).status_code in (200, 503)


def test_preflights_are_refused_and_no_answer_ever_shares_with_other_origins(app: Starlette, client: Caller) -> None:
    for _, path in every_call(app):
        preflight = {"origin": "http://evil.example", "access-control-request-method": "POST",
                     "access-control-request-headers": "x-stepscope,content-type"}  # fmt: skip
        answer = client.request("OPTIONS", path, headers=preflight)
        assert answer.status_code == 403
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_websockets_are_refused(app: Starlette) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    headers = [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {TOKEN}".encode())]
    scope = {"type": "websocket", "path": "/api/live", "query_string": b"", "headers": headers}
    asyncio.run(app(scope, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_two_hosts_are_refused(client: Caller) -> None:
    request = client.build_request("GET", "/api/info", headers=[("host", "127.0.0.1"), ("host", "evil.example")])
    assert client.send(request).status_code == 403


def test_a_code_for_the_browser_works_once() -> None:
    codes = Codes()
    code = codes.make()
    assert [codes.redeem(code), codes.redeem(code), codes.redeem("")] == [True, False, False]
    late = Codes(lifetime_s=-1)
    assert not late.redeem(late.make())


def test_every_answer_has_the_safe_headers(app: Starlette, client: Caller, stranger: Caller) -> None:
    answers = [client.get("/"), client.get("/api/info"), client.get("/api/nothing"), stranger.get("/api/info"),
               client.get("/..%2f"), client.get("/api/info", headers={"host": "evil.example"})]  # fmt: skip
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["cache-control"] in ("no-store", "no-cache")
        assert "server" not in answer.headers
