"""Aim."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REQUIREMENTS = ["aim", "numpy"]


def start(folder: Path):
    from aim import Run

    return Run(repo=str(folder), experiment="bench")


def log(run, step, values):
    for name, value in values.items():
        run.track(value, name=name, step=step)


def finish(run):
    run.close()


def warm():
    import aim  # noqa: F401


def read(folder: Path, name: str):
    from aim import Repo, Run

    for run_hash in Repo.from_path(str(folder)).list_all_runs():
        for metric in Run(run_hash, repo=str(folder), read_only=True).metrics():
            if metric.name == name:
                return metric.values.sparse_numpy()
    return [], []


def serve(folder: Path, port: int):
    command = [str(Path(sys.executable).with_name("aim")), "up", "--repo", str(folder), "--port", str(port)]
    return subprocess.Popen([*command, "--host", "127.0.0.1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def chart(client, port: int, name: str):
    query = (
        f"http://127.0.0.1:{port}/api/runs/search/metric/?p=500&q=metric.name%20==%20%22{name}%22&report_progress=false"
    )

    def ask():
        answer = client(query, {}, None, parse=False)
        return answer if len(answer) > 2000 else None  # empty until the server has indexed the run

    return ask
