"""Stepscope itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REQUIREMENTS: list[str] = []  # installed from this checkout
TOKEN = "bench-token-bench-token"


def start(folder: Path):
    import stepscope

    return stepscope.init(project="bench", name="bench", dir=folder)


def log(run, step, values):
    run.log(values, step=step)


def finish(run):
    run.finish()


def warm():
    import numpy  # noqa: F401

    import stepscope.runs.catalogue.catalogue
    import stepscope.runs.read.folder  # noqa: F401


def read(folder: Path, name: str):
    import stepscope

    series = stepscope.run("last", folder).series(name)
    return series.steps, series.values


def serve(folder: Path, port: int):
    command = [sys.executable, "-m", "stepscope", "ui", str(folder), "--port", str(port), "--token", TOKEN]
    return subprocess.Popen([*command, "--no-compact"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def chart(client, port: int, name: str):
    base = f"http://127.0.0.1:{port}"
    headers = {"Authorization": f"Bearer {TOKEN}", "X-Stepscope": "1", "Content-Type": "application/json"}
    runs = client(f"{base}/api/runs", headers, {"limit": 1})
    return lambda: client(
        f"{base}/api/series", headers, {"runs": [runs["rows"][0]["id"]], "keys": [name], "buckets": 1000}
    )
