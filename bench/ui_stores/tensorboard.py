"""TensorBoard: event files by torch's SummaryWriter, served with its Rust data server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ui_stores.cases import Case, value

REQUIREMENTS = ["tensorboard", "torch==2.13.0", "numpy"]
CHART = "line-chart canvas"
ROW = "tb-data-table-content-cell.table-column-run"
PICK_ALL = "tb-data-table-header-cell mat-checkbox, .data-table mat-checkbox"
"""It draws no run by itself when there are more than forty."""
MOST_POINTS = 10**9


def make(folder: Path, case: Case) -> None:
    """One run is logged; the others are links to its file, which TensorBoard reads as it reads any file."""
    from torch.utils.tensorboard import SummaryWriter

    first = folder / "run-0"
    writer = SummaryWriter(str(first))
    for step in range(case.points):
        for at in range(case.metrics):
            writer.add_scalar(case.metric(at), value(0, at, step, case.points), step)
    writer.close()
    for run in range(1, case.runs):
        (folder / f"run-{run}").mkdir()
        for path in first.iterdir():
            os.link(path, folder / f"run-{run}" / path.name)


def serve(folder: Path, port: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(folder), "--port", str(port)]
    command += ["--load_fast", "true", "--reload_interval", "3600"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def pages(port: int, folder: Path, case: Case) -> dict[str, str]:
    base = f"http://127.0.0.1:{port}/#timeseries"
    return {"charts": base, "all": base, "table": base}
