"""The app's files are served, and nothing that is not one of them (RELIABILITY 53)."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.server.app import create_app
from stepscope.server.settings import Settings

from .conftest import Caller, signed_in


@pytest.fixture
def built(tmp_path: Path, settings: Settings) -> Settings:
    folder = tmp_path / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>app</title>" + " " * 2000)
    (folder / "assets" / "index-abc123.js").write_text("export {}\n" * 200)
    (folder / "favicon.svg").write_text("<svg/>")
    (folder / "leak.txt").symlink_to("/etc/passwd")
    (tmp_path / "secret.txt").write_text("secret")
    return dataclasses.replace(settings, static=folder)


@pytest.fixture
def page(built: Settings, catalogue: Catalogue) -> Caller:
    return signed_in(create_app(catalogue, built))


@pytest.mark.parametrize("path", ["/", "/charts", "/runs", "/run/01JCQ4", "/anything/at-all"])
def test_every_page_address_gives_the_app(page: Caller, path: str) -> None:
    answer = page.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert answer.headers["cache-control"] == "no-cache"


def test_hashed_files_are_kept_by_the_browser_and_compressed(page: Caller) -> None:
    answer = page.get("/assets/index-abc123.js", headers={"accept-encoding": "gzip"})
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.text == "export {}\n" * 200


def test_a_new_build_is_seen_without_a_restart(page: Caller, built: Settings) -> None:
    assert "app" in page.get("/").text
    (built.static / "index.html").write_text("<title>newer</title>")
    assert page.get("/").text == "<title>newer</title>"


TRAVERSALS = [
    "/../secret.txt", "/..%2fsecret.txt", "/%2e%2e/secret.txt", "/%2e%2e%2fsecret.txt", "/%252e%252e%252fsecret.txt",
    "/..\\secret.txt", "/..%5csecret.txt", "/assets/../../secret.txt", "/assets/%2e%2e/%2e%2e/secret.txt",
    "/assets//../../secret.txt", "//secret.txt", "/./../secret.txt", "/.../secret.txt", "/%00.txt", "/index.html%00.js",
    "/\\\\host\\share\\x.txt", "/C:/secret.txt", "/file:///etc/passwd", "/etc/passwd", "/.git/config.txt", "/leak.txt",
    "/assets/..;/secret.txt", "/%c0%ae%c0%ae/secret.txt", "/assets/.hidden.txt", "/%ef%bd%85tc.txt",
]  # fmt: skip


@pytest.mark.parametrize("path", TRAVERSALS)
def test_no_spelling_of_a_path_leaves_the_folder(page: Caller, path: str) -> None:
    # built by hand: the client would tidy the path before sending it
    request = page.build_request("GET", "http://127.0.0.1:7007/")
    request.url = request.url.copy_with(raw_path=path.encode())
    answer = page.send(request)
    assert "secret" not in answer.text.replace("secret.txt", "")
    assert "root:" not in answer.text
    assert answer.status_code in ((200, 404) if path == "/etc/passwd" else (404,))  # /etc/passwd is a page's shape


def test_without_a_build_the_page_says_how_to_make_one(client: Caller) -> None:
    answer = client.get("/")
    assert (answer.status_code, answer.headers["content-type"]) == (503, "text/plain; charset=utf-8")
    assert "make setup" in answer.text


def test_an_unknown_api_address_is_no_page(page: Caller) -> None:
    answer = page.get("/api/nothing")
    assert (answer.status_code, answer.json()["error"]) == (404, "There is no GET /api/nothing.")
    assert page.get("/api/runs").status_code == 404
    assert page.post("/api/info").status_code == 404
