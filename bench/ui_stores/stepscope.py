"""Our own store, written by our own writer."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

from ui_stores.cases import Case, value

REQUIREMENTS: list[str] = []
CHART = '[data-drawn][aria-label*="Last values"]'
ROW = "[data-run]"
MOST_POINTS = 10**9


def make(folder: Path, case: Case) -> None:
    from stepscope.records import End, RunMeta
    from stepscope.runs.format.ids import new_run_id
    from stepscope.runs.format.layout import create_run
    from stepscope.runs.write.writer import RunWriter

    names = tuple(case.metric(at) for at in range(case.metrics))
    now = time.time()
    for run in range(case.runs):
        config = {
            "lr": 10 ** -(1 + run % 4),
            "seed": run,
            "width": 64 << run % 3,
            "optimizer": ("adam", "sgd")[run % 2],
        }
        meta = RunMeta(id=new_run_id(now - run), project="bench", name=f"run-{run}", created=now - run, config=config)
        writer = RunWriter(create_run(folder, meta), run_id=meta.id, heartbeat_s=0, fsync_s=0)
        row = writer.keyset(names)
        for step in range(case.points):
            row.write(step, tuple(value(run, at, step, case.points) for at in range(case.metrics)))
        writer.close(End(time=now, status="finished", exit_code=0))


def serve(folder: Path, port: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "stepscope", "ui", str(folder), "--port", str(port), "--no-token"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def pages(port: int, folder: Path, case: Case) -> dict[str, str]:
    """Addresses: `charts` as the tool opens by itself, `all` with every run drawn, `table` with the runs."""
    base = f"http://127.0.0.1:{port}"
    ids = sorted(path.name for path in folder.iterdir() if re.fullmatch(r"[0-9A-Z]{20,30}", path.name))
    return {"charts": f"{base}/#/charts", "all": f"{base}/#/charts?runs={','.join(ids)}", "table": f"{base}/#/runs"}
