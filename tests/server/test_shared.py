"""Shared reports over HTTP: the link opens one page without the server's token, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.applications import Starlette

from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.server.app import create_app
from stepscope.server.settings import Settings
from stepscope.server.shared import MOST_WRONG

from .conftest import TOKEN, Caller, signed_in

POLICY = "default-src 'none'; script-src 'sha256-AAAA='; connect-src data: blob:"
TEMPLATE = (
    f'<!doctype html><meta http-equiv="Content-Security-Policy" content="{POLICY}" /><title>x</title>'
    '<script id="report-pack"></script>'
)


@pytest.fixture(autouse=True)
def template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    static = tmp_path / "static"
    static.mkdir()
    (static / "report-viewer.html").write_text(TEMPLATE)
    monkeypatch.setenv("STEPSCOPE_STATIC", str(static))


def shared(client: Caller, text: str = "# Shown to all\n") -> tuple[str, str, str]:
    """The id of a report, its link, and the link's id."""
    id = client.post("/api/report/save", {"text": text}).json()["id"]
    made = client.post("/api/report/share", {"id": id, "label": "for Ada"}).json()
    return id, made["url"], made["share"]["id"]


def test_a_link_opens_the_page_without_the_token_and_sets_no_cookie(client: Caller, stranger: Caller) -> None:
    _, url, _ = shared(client)
    answer = stranger.get(url)
    assert answer.status_code == 200
    assert "Shown to all" in answer.text.partition("</title>")[0]
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "noindex" in answer.headers["x-robots-tag"]
    assert "set-cookie" not in answer.headers
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in policy
    assert "unsafe" not in policy
    assert policy.endswith(f"; {POLICY}; frame-ancestors 'none'")
    assert answer.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in stranger.get(url, headers={"accept-encoding": "identity"}).headers
    head = stranger.request("HEAD", url)
    assert (head.status_code, head.headers["content-type"]) == (200, "text/html; charset=utf-8")


def test_a_title_cannot_loosen_the_policy(client: Caller, stranger: Caller, tmp_path: Path) -> None:
    (tmp_path / "static" / "report-viewer.html").write_text('<title>x</title><script id="report-pack"></script>')
    evil = '<meta http-equiv="Content-Security-Policy" content="script-src *"'
    policy = stranger.get(shared(client, f"# {evil}\n")[1]).headers["content-security-policy"]
    assert policy.endswith("allow-modals; default-src 'none'; frame-ancestors 'none'")


def test_a_link_opens_nothing_else(client: Caller, stranger: Caller) -> None:
    id, url, _ = shared(client)
    other = client.post("/api/report/save", {"text": "# Not for all"}).json()["id"]
    token = url.rpartition("/")[2]
    assert "Not for all" not in stranger.get(url).text
    for path in ("/", "/api/info", f"/api/report/file?id={other}", f"{url}/x", f"/shared/../api/info?token={token}"):
        assert stranger.get(path).status_code in (401, 404), path
    for headers in ({"authorization": f"Bearer {token}"}, {"cookie": f"stepscope-7007={token}"}):
        for call in ("/api/reports", "/api/report"):
            assert stranger.post(call, {"id": id}, headers={**headers, "x-stepscope": "1"}).status_code == 401
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert stranger.request(method, url).status_code in (401, 403, 405), method


def test_a_revoked_link_is_closed_at_once(client: Caller, stranger: Caller) -> None:
    id, url, share = shared(client)
    assert stranger.get(url).status_code == 200
    left = client.post("/api/report/unshare", {"id": id, "share": share}).json()
    assert left == {"shares": []}
    answer = stranger.get(url)
    assert answer.status_code == 404
    assert "This link leads nowhere" in answer.text


def test_a_deleted_report_closes_its_links(client: Caller, stranger: Caller) -> None:
    id, url, _ = shared(client)
    client.post("/api/report/delete", {"id": id})
    assert stranger.get(url).status_code == 404


def test_the_page_follows_the_newest_version(client: Caller, stranger: Caller) -> None:
    id, url, _ = shared(client)
    client.post("/api/report/save", {"id": id, "text": "# Better words", "base": 1})
    assert "Better words" in stranger.get(url).text


def test_another_name_for_the_server_is_refused(client: Caller, stranger: Caller) -> None:
    _, url, _ = shared(client)
    assert stranger.get(url, headers={"host": "evil.example"}).status_code == 403


def test_many_wrong_links_are_not_answered_for_a_while(client: Caller, stranger: Caller) -> None:
    _, url, _ = shared(client)
    wrong = "/shared/" + "A" * 43
    assert [stranger.get(wrong).status_code for _ in range(MOST_WRONG)] == [404] * MOST_WRONG
    assert stranger.get(wrong).status_code == 429
    assert stranger.get(url).status_code == 429
    assert client.post("/api/reports").status_code == 200


def test_links_are_listed_without_their_tokens(client: Caller) -> None:
    id, url, share = shared(client)
    listed = client.post("/api/report/shares", {"id": id})
    assert [(one["id"], one["label"], one["expires"]) for one in listed.json()["shares"]] == [(share, "for Ada", None)]
    assert url.rpartition("/")[2] not in listed.text
    assert client.post("/api/reports").json()["reports"][0]["shares"] == 1


def test_a_read_only_server_makes_no_links(client: Caller, catalogue: Catalogue, settings: Settings) -> None:
    id, url, _ = shared(client)
    app: Starlette = create_app(catalogue, Settings(token=TOKEN, static=settings.static, read_only=True))
    assert signed_in(app).post("/api/report/share", {"id": id}).status_code == 403
    assert Caller(app).get(url).status_code == 200


def test_the_token_of_a_link_is_in_no_log(
    client: Caller, stranger: Caller, caplog: pytest.LogCaptureFixture, store: Path
) -> None:
    _, url, _ = shared(client)
    token = url.rpartition("/")[2]
    with caplog.at_level("DEBUG"):
        stranger.get(url)
        stranger.get(url + "x")
    assert token not in "".join(record.getMessage() for record in caplog.records if record.name != "httpx")
    assert [path for path in store.rglob("*") if path.is_file() and token.encode() in path.read_bytes()] == []


def test_a_download_is_a_file_and_not_a_page(client: Caller) -> None:
    id = client.post("/api/report/save", {"text": "# Saved"}).json()["id"]
    answer = client.get(f"/api/report/file?id={id}&format=html")
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''saved.html"
    assert answer.headers["content-type"] == "application/octet-stream"
    assert client.get(f"/api/report/file?id={id}&format=exe").status_code == 400
    for size in ("nan", "inf", "0", "-1"):
        assert client.get(f"/api/report/file?id={id}&max_mb={size}").status_code == 400, size


def test_a_conflict_is_told_with_its_status(client: Caller) -> None:
    id = client.post("/api/report/save", {"text": "one"}).json()["id"]
    client.post("/api/report/save", {"id": id, "text": "two", "base": 1})
    answer = client.post("/api/report/save", {"id": id, "text": "mine", "base": 1})
    assert answer.status_code == 409
    assert "merge both texts" in answer.json()["error"]
