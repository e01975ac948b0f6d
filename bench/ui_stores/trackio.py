"""trackio: its SQLite store. Rows are put in directly after the library has made the tables."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

from ui_stores.cases import Case, value

REQUIREMENTS = ["trackio", "numpy"]
CHART = "canvas.marks"
ROW = "td.run-name-cell"
MOST_POINTS = 1_000_000
WIDE_POINTS = 1_000


def make(folder: Path, case: Case) -> None:
    os.environ["TRACKIO_DIR"] = str(folder)
    import trackio

    first = trackio.init(project="bench", name="first", embed=False)
    first.log({case.metric(0): 1.0}, step=0)
    trackio.finish()
    names = [case.metric(at) for at in range(case.metrics)]
    now = datetime.now(timezone.utc)
    with sqlite3.connect(folder / "bench.db") as store:
        store.execute("delete from metrics")
        store.execute("delete from configs")
        for run in range(case.runs):
            uuid, name = f"{run:032x}", f"run-{run}"
            config = {"lr": 10 ** -(1 + run % 4), "seed": run, "_Created": now.isoformat(), "_Username": "bench"}
            store.execute(
                "insert into configs (run_id, run_name, config, created_at) values (?, ?, ?, ?)",
                (uuid, name, json.dumps(config), now.isoformat()),
            )
            rows = (
                (uuid, (now + timedelta(milliseconds=step)).isoformat(), name, step, _row(names, run, step, case))
                for step in range(case.points)
            )
            store.executemany(
                "insert into metrics (run_id, timestamp, run_name, step, metrics) values (?, ?, ?, ?, ?)", rows
            )


def _row(names: list[str], run: int, step: int, case: Case) -> str:
    return json.dumps({name: value(run, at, step, case.points) for at, name in enumerate(names)})


def serve(folder: Path, port: int) -> subprocess.Popen[bytes]:
    code = f"import trackio; trackio.show(project='bench', open_browser=False, block_thread=True, server_port={port})"
    surroundings = {**os.environ, "TRACKIO_DIR": str(folder), "GRADIO_SERVER_PORT": str(port)}
    return subprocess.Popen(
        [sys.executable, "-c", code], env=surroundings, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def pages(port: int, folder: Path, case: Case) -> dict[str, str]:
    base = f"http://127.0.0.1:{port}"
    return {"charts": f"{base}/?project=bench", "all": f"{base}/?project=bench", "table": f"{base}/runs?project=bench"}
