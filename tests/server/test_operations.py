"""What an operator asks: is it healthy, how is it doing, what does it log, is everything there?"""

from __future__ import annotations

import io
import json
import logging
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from prometheus_client.parser import text_string_to_metric_families
from tests.team import TOKEN, team_server

from stepscope.cli.main import commands
from stepscope.server.logs import log_to_stderr
from stepscope.server.serve import Running


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with team_server(tmp_path / "server") as server:
        yield server


def test_health_needs_no_token_and_says_nothing_of_runs(server: Running) -> None:
    answer = httpx.get(f"{server.url}/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "problems": {}})
    server._server._app.state.health.checks["disk"] = lambda: "it is full"
    answer = httpx.get(f"{server.url}/healthz")
    assert (answer.status_code, answer.json()["problems"]) == (503, {"disk": "it is full"})


def test_metrics_are_for_who_has_the_token_and_parse(server: Running) -> None:
    assert httpx.get(f"{server.url}/metrics").status_code == 401
    headers = {"authorization": f"Bearer {TOKEN}", "x-stepscope": "1"}
    httpx.post(f"{server.url}/api/runs", json={}, headers=headers)
    text = httpx.get(f"{server.url}/metrics", headers=headers).text
    found = {family.name: family for family in text_string_to_metric_families(text)}
    assert {"stepscope_requests", "stepscope_request_seconds", "stepscope_runs", "stepscope_pages_open"} <= found.keys()
    answers = {(one.labels["area"], one.labels["status"]) for one in found["stepscope_requests"].samples if one.value}
    assert {("api", "200"), ("page", "401")} <= answers


def test_log_lines_are_json_with_the_facts_of_a_request(server: Running) -> None:
    handler = log_to_stderr("json", access=True)
    out = io.StringIO()
    handler.setStream(out)
    try:
        httpx.get(f"{server.url}/api/info?token=secret-secret-secret")
        until = time.monotonic() + 60
        while "stepscope.access" not in out.getvalue() and time.monotonic() < until:
            time.sleep(0.01)  # the line is written after the answer
        logging.getLogger("stepscope.server").warning("a disk %s", "fails")
    finally:
        logging.getLogger("stepscope").removeHandler(handler)
        logging.getLogger("stepscope.access").setLevel(logging.NOTSET)
        logging.getLogger("stepscope").setLevel(logging.NOTSET)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    (request,) = [line for line in lines if line["logger"] == "stepscope.access"]
    assert (request["method"], request["path"], request["status"]) == ("GET", "/api/info", 401)
    assert "secret" not in out.getvalue()
    assert [line["message"] for line in lines if line["level"] == "warning"] == ["a disk fails"]


def test_the_doctor_tries_folder_database_and_objects(tmp_path: Path) -> None:
    folder, archive = tmp_path / "runs", tmp_path / "archive"
    folder.mkdir()
    words = ["server", "doctor", str(folder), "--objects", str(archive), "--json"]
    done = CliRunner().invoke(commands, words, catch_exceptions=False)
    found = {one["name"]: one for one in json.loads(done.output)}
    assert done.exit_code == 0
    assert {name: one["result"] for name, one in found.items() if name in ("database", "objects")} == {
        "database": "ok",
        "objects": "ok",
    }
    assert [path for path in archive.rglob("*") if path.is_file()] == []
    missing = CliRunner().invoke(commands, ["server", "doctor", str(tmp_path / "no")])
    assert missing.exit_code == 1
    assert "creates it" in missing.output
