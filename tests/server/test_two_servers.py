"""Two servers share a store and a cache, and one is killed in the middle of its work (RELIABILITY 30)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from tests.runs.making import make_old, make_run

from .conftest import TOKEN


@contextmanager
def serving(store: Path, cache: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server in a process of its own, and its address."""
    command = [sys.executable, "-m", "stepscope", "ui", str(store), "--port", "0"]
    environment = {**os.environ, "STEPSCOPE_CACHE": str(cache), "STEPSCOPE_TOKEN": TOKEN, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8"
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if "http://" in line:
                yield process, "http" + line.partition("http")[2].split("/?")[0].strip()
                break
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def losses(url: str) -> dict[str, object]:
    """Every run's last loss, as the table shows it."""
    headers = {"authorization": f"Bearer {TOKEN}", "x-stepscope": "1"}
    request = {"columns": ["loss.last"], "limit": 200}
    answer = httpx.post(f"{url}/api/runs", json=request, headers=headers, timeout=300).raise_for_status().json()
    return {row["name"]: row["cells"][0] for row in answer["rows"]}


def test_one_of_two_servers_is_killed_and_neither_store_nor_cache_suffers(store: Path, tmp_path: Path) -> None:
    for number in range(60):
        make_run(store, f"run-{number}", series={"loss": [1.0, float(number)]})
    make_old(store)
    expected = {f"run-{number}": number for number in range(60)}
    cache = tmp_path / "shared-cache"
    with serving(store, cache) as (_first, one), serving(store, cache) as (second, two):
        second.kill()  # while it reads the store for the first time
        second.wait()
        assert losses(one) == expected
        with serving(store, cache) as (_third, three):
            assert losses(three) == expected
        assert losses(one) == expected
    assert two != one
