"""MLflow: its SQLite store. The rows are put in directly, because logging them one call at a time takes hours."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from ui_stores.cases import Case, value

REQUIREMENTS = ["mlflow", "numpy"]
CHART = ".scatterlayer .trace path.js-line"
ROW = ".ag-cell-value a"
MOST_POINTS = 1_000_000
WIDE_POINTS = 1_000
"""A tenth of the points in the wide case: fifty million rows take over an hour to write."""


def make(folder: Path, case: Case) -> None:
    import mlflow

    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    experiment = mlflow.set_experiment("bench")
    now = int(time.time() * 1000)
    with sqlite3.connect(folder / "mlflow.db") as store:
        for run in range(case.runs):
            uuid = f"{run:032x}"
            start = now - run * 1000
            unknown = "'UNKNOWN', '', '', 'bench', 'FINISHED'"
            artifacts = f"{folder}/mlruns/{uuid}/artifacts"
            store.execute(
                f"insert into runs values (?, ?, {unknown}, ?, ?, '', 'active', ?, ?, null)",
                (uuid, f"run-{run}", start, start + 60_000, artifacts, int(experiment.experiment_id)),
            )
            store.execute("insert into tags values ('mlflow.runName', ?, ?)", (f"run-{run}", uuid))
            store.executemany(
                "insert into params values (?, ?, ?)",
                [(name, str(given), uuid) for name, given in (("lr", 10 ** -(1 + run % 4)), ("seed", run))],
            )
            for at in range(case.metrics):
                name = case.metric(at)
                rows = ((name, value(run, at, s, case.points), start + s, uuid, s, 0) for s in range(case.points))
                store.executemany("insert into metrics values (?, ?, ?, ?, ?, ?)", rows)
                last = value(run, at, case.points - 1, case.points)
                store.execute(
                    "insert into latest_metrics values (?, ?, ?, ?, 0, ?)", (name, last, now, case.points - 1, uuid)
                )


def serve(folder: Path, port: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", f"sqlite:///{folder}/mlflow.db"]
    command += ["--port", str(port), "--host", "127.0.0.1", "--workers", "1"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)


def pages(port: int, folder: Path, case: Case) -> dict[str, str]:
    runs = f"http://127.0.0.1:{port}/#/experiments/1/runs"
    alone = f"{runs}/{0:032x}/model-metrics"
    charts = alone if case.runs == 1 else f"{runs}?compareRunsMode=CHART"
    return {"charts": charts, "all": charts, "table": runs}
