"""What leaves the server: valid JSON, honest errors, and bytes that cannot become a page (RELIABILITY 44, 53, 58)."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import math
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from tests.views.conftest import write_run

from stepscope.records import Media, NotesChange, TagsChange
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.server.app import create_app
from stepscope.server.settings import Settings

from .conftest import TOKEN, Caller, signed_in

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "\"'`;",
    "\u202egnp.exe",
    "{{7*7}}",
    "\x00\x1b[31m",
]


def parsed(data: bytes) -> Any:
    return json.loads(data, parse_constant=lambda name: pytest.fail(f"{name} is not valid JSON"))


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_come_back_as_the_same_text_in_json(client: Caller, store: Path, name: str) -> None:
    events = [TagsChange(time=1.0, add=[name]), NotesChange(time=1.0, text=name)]
    run = write_run(store, name, {name: [1.0]}, events=events, project=name, config={name: name}, command=[name])
    row = parsed(client.post("/api/runs").content)["rows"][0]
    assert (row["name"], row["tags"], row["notes"], row["project"]) == (name, [name], name, name)
    answer = client.post("/api/run", {"run": run})
    assert answer.headers["content-type"] == "application/json"
    assert parsed(answer.content)["config"] == {name: name}
    assert parsed(client.post("/api/series", {"runs": [run], "keys": [name]}).content)["lines"][0]["key"] == name


def test_no_number_breaks_the_json(client: Caller, store: Path) -> None:
    odd = [math.nan, math.inf, -math.inf, -0.0, 5e-324, 1.7e308, -1.7e308]
    run = write_run(store, series={"odd": odd, "nan": [math.nan], "inf": [math.inf]}, config={"x": math.nan})
    calls: list[tuple[str, dict[str, Any]]] = [
        ("/api/runs", {"columns": ["odd.last", "nan.mean", "inf.max", "config.x"], "group_by": "nan.last"}),
        ("/api/columns", {}),
        ("/api/run", {"run": run}),
        ("/api/panels", {"runs": [run]}),
    ]
    for x in ("step", "relative", "wall", "odd"):
        for kind in ("none", "ema", "gaussian", "mean"):
            smoothing = {"kind": kind, "amount": 0.5 if kind == "ema" else 3}
            request = {"runs": [run], "keys": ["odd", "nan", "inf"], "x": x, "buckets": 2, "smoothing": smoothing}
            calls.append(("/api/series", request))
    for path, body in calls:
        answer = client.post(path, body)
        assert answer.status_code == 200, (path, body, answer.text)
        parsed(answer.content)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "truncated"),
        (b"{", "truncated"),
        (b"[]", "Expected `object`"),
        (b'{"limit": "many"}', "Expected `int`"),
        (b'{"query": 7}', "Expected `str`"),
        (b"\xff\xfe", "malformed"),
        (b"[" * 100_000, ""),
    ],
)
def test_a_body_that_makes_no_sense_is_the_callers_mistake(client: Caller, body: bytes, words: str) -> None:
    answer = client.post("/api/runs", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert words in answer.json()["error"]


def test_a_query_that_cannot_be_read_points_at_the_character(client: Caller, store: Path) -> None:
    write_run(store, config={"lr": 0.1})
    answer = client.post("/api/runs", {"query": "config.lr <> 3"})
    assert answer.status_code == 400
    assert answer.json()["position"] == 11


@pytest.mark.parametrize(
    "query",
    [
        "(" * 50_000,
        "not " * 50_000,
        "a" * 500_000,
        "name ~ '(a+)+$'",
        "name = '" + "a" * 100_000,
        "status = x or " * 5000,
    ],
)
def test_a_vicious_query_is_answered_quickly(client: Caller, store: Path, query: str) -> None:
    write_run(store, "a" * 40 + "!")
    began = time.process_time()
    assert client.post("/api/runs", {"query": query}).status_code in (200, 400)
    assert time.process_time() - began < 2


def test_a_large_body_is_refused(client: Caller) -> None:
    answer = client.post("/api/runs", {"query": "x" * (8 << 20)})
    assert answer.status_code == 413
    assert answer.json()["error"] == "the request is larger than 4 MiB, the most this server takes"


def test_our_own_fault_gives_a_number_and_no_details(
    app: Starlette, client: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret detail in /home/me")

    monkeypatch.setattr(Catalogue, "entries", broken)
    with caplog.at_level(logging.ERROR, "stepscope.server"):
        answer = client.post("/api/runs")
    assert answer.status_code == 500
    problem = answer.json()
    assert "secret detail" not in answer.text
    assert problem["id"] in problem["error"]
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert problem["id"] in caplog.text
    assert "secret detail" in caplog.text


def test_larger_answers_are_compressed_when_the_caller_can(client: Caller, store: Path) -> None:
    run = write_run(store, series={"loss": [n / 7 for n in range(500)]})
    request = {"runs": [run], "keys": ["loss"]}
    plain = client.post("/api/series", request, headers={"accept-encoding": "identity"})
    packed = client.post("/api/series", request, headers={"accept-encoding": "gzip, br"})
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < len(plain.content) / 2
    assert packed.json() == plain.json()


ACTIVE = [
    ("text/html", b"<script>alert(1)</script>"),
    ("image/svg+xml", b"<svg onload='alert(1)'/>"),
    ("application/xhtml+xml", b"<x/>"),
    ("text/javascript", b"alert(1)"),
    ("application/pdf", b"%PDF"),
    ("text/html; charset=utf-7", b"+ADw-script+AD4-"),
    ("image/png\r\nSet-Cookie: x=1", b"x"),
    ("", b"x"),
]


@pytest.mark.parametrize(("mime", "data"), ACTIVE)
def test_media_that_could_run_are_only_ever_saved(client: Caller, store: Path, mime: str, data: bytes) -> None:
    data = data.ljust(5000)
    name = 'a"b\r\nX: y.html'
    run = write_run(
        store, media=[(Media(key="k", step=0, time=0.0, kind="file", mime=mime, meta={"name": name}), data)]
    )
    answer = client.get(f"/api/blob/{run}/{hashlib.sha256(data).hexdigest()}")
    assert (answer.status_code, answer.content) == (200, data)
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment; filename*=UTF-8''")
    assert answer.headers["content-security-policy"].startswith("sandbox;")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert not {"set-cookie", "x"} & set(answer.headers)


def test_a_logged_page_may_be_framed_by_us_and_can_do_nothing(client: Caller, store: Path) -> None:
    data = b"<style>b{color:red}</style><b>hi</b><script>alert(1)</script>".ljust(5000)
    html = Media(key="k", step=0, time=0.0, kind="html", mime="text/html")
    run = write_run(store, media=[(html, data)])
    sha256 = hashlib.sha256(data).hexdigest()
    answer = client.get(f"/api/page/{run}/{sha256}")
    assert (answer.status_code, answer.content) == (200, data)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"].split("; ")
    assert policy[:2] == ["sandbox", "default-src 'none'"]
    assert not any(part.startswith(("script-src", "connect-src", "form-action")) for part in policy)
    assert (policy[-1], answer.headers["x-frame-options"]) == ("frame-ancestors 'self'", "SAMEORIGIN")
    assert client.get(f"/api/blob/{run}/{sha256}").headers["content-disposition"].startswith("attachment")


def test_only_html_is_a_page(client: Caller, store: Path) -> None:
    data = b"<svg onload='alert(1)'/>".ljust(5000)
    run = write_run(store, media=[(Media(key="k", step=0, time=0.0, kind="file", mime="image/svg+xml"), data)])
    assert client.get(f"/api/page/{run}/{hashlib.sha256(data).hexdigest()}").status_code == 404
    assert client.get(f"/api/page/{run}/{'0' * 64}").status_code == 404


def test_an_image_is_shown_and_kept_by_this_browser_only(client: Caller, store: Path) -> None:
    data = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (8).to_bytes(4, "big") * 2 + b"\0" * 5000 + b"IEND"
    run = write_run(store, media=[(Media(key="k", step=0, time=0.0, kind="image", mime="image/png"), data)])
    url = f"/api/blob/{run}/{hashlib.sha256(data).hexdigest()}"
    answer = client.get(url)
    assert (answer.headers["content-type"], answer.headers["content-disposition"]) == ("image/png", "inline")
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert answer.headers["content-security-policy"].startswith("sandbox;")
    assert client.get(f"{url}?save=true").headers["content-disposition"] == "attachment; filename*=UTF-8''k-0"


@pytest.mark.parametrize(
    ("asked", "status", "given"),
    [
        ("bytes=0-3", 206, slice(0, 4)),
        ("bytes=4990-", 206, slice(4990, None)),
        ("bytes=-5", 206, slice(-5, None)),
        ("bytes=0-999999", 200, slice(None)),
        ("bytes=9999-", 416, slice(0, 0)),
        ("bytes=5-2", 416, slice(0, 0)),
        ("bytes=0-1,3-4", 200, slice(None)),
        ("lines=1-2", 200, slice(None)),
    ],
)
def test_players_may_ask_for_a_part(client: Caller, store: Path, asked: str, status: int, given: slice) -> None:
    data = bytes(range(250)) * 20
    run = write_run(store, media=[(Media(key="v", step=0, time=0.0, kind="video", mime="video/mp4"), data)])
    answer = client.get(f"/api/blob/{run}/{hashlib.sha256(data).hexdigest()}", headers={"range": asked})
    assert (answer.status_code, answer.content) == (status, data[given])


TRAVERSALS = [
    "/api/blob/..%2f..%2fetc/passwd", "/api/blob/%2e%2e/%2e%2e/etc/passwd",
    "/api/blob/{run}/..%2fmeta.json", "/api/blob/{run}/%252e%252e%252fmeta.json",
    "/api/blob/{run}/meta.json", "/api/blob/{run}/..\\meta.json", "/api/blob/{run}%00/" + "a" * 64,
    "/api/blob/last/" + "a" * 64, "/api/blob/@1/" + "a" * 64, "/api/blob/" + "{run}"[:1] + "/" + "a" * 64,
    "/api/export/..%2f..%2fetc%2fpasswd.csv", "/api/export/last.csv",
    "/api/export/%2fetc%2fpasswd.csv",
]  # fmt: skip


@pytest.mark.parametrize("path", TRAVERSALS)
def test_no_address_reaches_a_file_that_is_no_medium(client: Caller, store: Path, path: str) -> None:
    run = write_run(store)
    request = client.build_request("GET", "http://127.0.0.1:7007/")
    request.url = request.url.copy_with(raw_path=path.replace("{run}", run).encode())
    answer = client.send(request)
    assert answer.status_code == 404
    assert "root:" not in answer.text
    assert '"project"' not in answer.text


def test_series_leave_as_csv_without_formulas(client: Caller, store: Path) -> None:
    run = write_run(store, "my run/1", {"loss": [1.0, 0.5], "=HYPERLINK(1)": [2.0], "lr": [0.1, 0.1]})
    answer = client.get(f"/api/export/{run}.csv", params={"keys": ["loss", "=HYPERLINK(1)"]})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''my-run-1.csv"
    head, *rows = answer.text.splitlines()
    assert head.split(",") == ["step", "time", "'=HYPERLINK(1)", "loss"]
    assert [row.split(",")[2:] for row in rows] == [["2.0", "1.0"], ["", "0.5"]]
    assert client.get(f"/api/export/{run}.csv", params={"keys": "nothing"}).status_code == 404


def test_without_a_token_the_other_checks_still_stand(catalogue: Catalogue, settings: Settings) -> None:
    open_app = create_app(catalogue, dataclasses.replace(settings, token=None))
    caller = Caller(open_app, **{"x-stepscope": "1"})
    assert caller.get("/api/info").status_code == 200
    assert caller.get("/api/info", headers={"host": "evil.example"}).status_code == 403
    assert caller.get("/api/info", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert caller.post("/api/runs/edit", {"runs": []}, headers={"origin": "http://evil.example"}).status_code == 403


def test_edits_are_refused_by_a_read_only_server(catalogue: Catalogue, settings: Settings, store: Path) -> None:
    run = write_run(store)
    caller = signed_in(create_app(catalogue, dataclasses.replace(settings, read_only=True)))
    answer = caller.post("/api/runs/edit", {"runs": [run], "name": "x"}).json()
    assert answer == {"changed": [], "refused": [{"run": run, "reason": "this server was started read-only"}]}


def test_unknown_fields_and_a_token_in_the_query_do_no_harm(client: Caller, store: Path) -> None:
    run = write_run(store, series={"loss": [1.0]})
    answer = client.get(f"/api/export/{run}.csv", params={"run": "0" * 26, "token": TOKEN, "other": "1"})
    assert answer.status_code == 200  # the run in the path counts
