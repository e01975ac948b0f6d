"""MLflow with its default local store."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REQUIREMENTS = ["mlflow", "numpy"]


def start(folder: Path):
    import mlflow

    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    mlflow.set_experiment("bench")
    return mlflow.start_run(run_name="bench")


def log(run, step, values):
    import mlflow

    mlflow.log_metrics(values, step=step)


def finish(run):
    import mlflow

    mlflow.end_run()


def warm():
    import mlflow  # noqa: F401


def read(folder: Path, name: str):
    import mlflow

    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    client = mlflow.MlflowClient()
    run = client.search_runs(["0", "1"])[0]
    points = client.get_metric_history(run.info.run_id, name)
    return [p.step for p in points], [p.value for p in points]


def serve(folder: Path, port: int):
    command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", f"sqlite:///{folder}/mlflow.db"]
    command += ["--port", str(port), "--host", "127.0.0.1", "--workers", "1"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def chart(client, port: int, name: str):
    base = f"http://127.0.0.1:{port}"
    found = client(
        f"{base}/api/2.0/mlflow/runs/search",
        {"Content-Type": "application/json"},
        {"experiment_ids": ["0", "1"], "max_results": 1},
    )
    run = found["runs"][0]["info"]["run_id"]
    url = (
        f"{base}/ajax-api/2.0/mlflow/metrics/get-history-bulk-interval?run_ids={run}&metric_key={name}&max_results=320"
    )
    return lambda: client(url, {}, None)
