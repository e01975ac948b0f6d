"""trackio: local SQLite, shown by Gradio."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = ["trackio", "numpy"]


def start(folder: Path):
    import trackio

    return trackio.init(project="bench", name="bench", embed=False)


def log(run, step, values):
    run.log(values, step=step)


def finish(run):
    import trackio

    trackio.finish()


def warm():
    import trackio  # noqa: F401


def read(folder: Path, name: str):
    from trackio.sqlite_storage import SQLiteStorage

    rows = SQLiteStorage.get_logs("bench", "bench", max_points=None)
    return [row["step"] for row in rows if name in row], [row[name] for row in rows if name in row]


def serve(folder: Path, port: int):
    code = f"import trackio; trackio.show(project='bench', open_browser=False, block_thread=True, server_port={port})"
    surroundings = {**os.environ, "TRACKIO_DIR": str(folder), "GRADIO_SERVER_PORT": str(port)}
    return subprocess.Popen(
        [sys.executable, "-c", code], env=surroundings, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def chart(client, port: int, name: str):
    url = f"http://127.0.0.1:{port}/api/get_logs"
    return lambda: client(url, {"Content-Type": "application/json"}, {"project": "bench", "run": "bench"})
