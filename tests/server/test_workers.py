"""`stepscope server --workers 2`: one address, processes that can die, one invitation, one alert."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.runs.making import make_run
from tests.team import TOKEN, people_in

from stepscope.server.alert_channels import outlets_of
from stepscope.server.settings import Settings
from stepscope.views.notice import Notice

HEADERS = {"authorization": f"Bearer {TOKEN}", "x-stepscope": "1"}


@contextmanager
def _server(home: Path, url: str) -> Iterator[tuple[psutil.Process, str]]:
    with people_in(home, url):
        make_run(home, "one", series={"loss": [1.0]})
    words = ["server", str(home), "--port", "0", "--database", url, "--workers", "2", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "stepscope", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        yield psutil.Process(process.pid), json.loads(process.stdout.readline())["url"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(90) == 0
        assert process.stdout.read() == ""  # the address was said once
    finally:
        for one in (*psutil.Process(process.pid).children(), process) if process.poll() is None else ():
            one.kill()
        process.wait()
        process.stdout.close()


def _names(url: str) -> list[str]:
    """Over a connection of its own, so that any process may get it; also one that has not read the folder yet."""
    deadline = time.monotonic() + 60
    names: list[str] = []
    while not names:
        try:
            answer = httpx.post(f"{url}/api/runs", json={}, headers=HEADERS, timeout=60)
            names = [row["name"] for row in answer.raise_for_status().json()["rows"]]
        except httpx.TransportError:  # the one that had it was killed
            pass
        assert time.monotonic() < deadline, "no process answers with the run"
        time.sleep(0.01)
    return names


def _counted(url: str) -> set[str]:
    """The workers whose numbers one of them tells Prometheus; all answers are counted, whoever gave them."""
    text = httpx.get(f"{url}/metrics", headers=HEADERS, timeout=60).text
    found = {family.name: family for family in text_string_to_metric_families(text)}
    answers = [one for one in found["stepscope_requests"].samples if one.name.endswith("_total")]
    assert sum(one.value for one in answers if one.labels["area"] == "api") >= 20
    return {one.labels["worker"] for one in found["stepscope_runs"].samples}


@pytest.mark.skipif(os.name != "posix", reason="sockets are handed to processes by their number")
def test_one_of_two_processes_is_killed_and_the_address_goes_on(tmp_path: Path, database_url: str) -> None:
    with _server(tmp_path / "home", database_url) as (parent, url):
        assert _names(url) == ["one"]
        first = {one.pid for one in parent.children()}
        assert len(first) == 2
        os.kill(min(first), signal.SIGKILL)
        for _ in range(20):
            assert _names(url) == ["one"]
        deadline = time.monotonic() + 60
        while _counted(url) != {"0", "1"}:  # the first may have been killed before it wrote its numbers
            assert time.monotonic() < deadline, "one of the two is never counted"
            time.sleep(0.1)
        while len({one.pid for one in parent.children() if one.status() != "zombie"} - {min(first)}) < 2:
            assert time.monotonic() < deadline, "no new process was started"
            time.sleep(0.1)
        workers = parent.children()
    assert not any(one.is_running() for one in workers)


def test_of_several_processes_one_sends_the_alerts(tmp_path: Path) -> None:
    settings = Settings(ingest=tmp_path, webhook="http://127.0.0.1:1/hook")
    notice = Notice(run="01J", title="failed", text="", level="error", kind="failed")
    one, two = outlets_of(settings), outlets_of(settings)  # not started: what they take waits
    for outlets in (one, two):
        outlets.tell([notice])
    assert [outlets._waiting.qsize() for outlets in (one, two)] == [1, 0]
