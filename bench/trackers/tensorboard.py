"""TensorBoard through torch.utils.tensorboard.SummaryWriter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REQUIREMENTS = ["tensorboard", "torch==2.13.0", "numpy"]


def start(folder: Path):
    from torch.utils.tensorboard import SummaryWriter

    return SummaryWriter(str(folder / "run"))


def log(writer, step, values):
    for name, value in values.items():
        writer.add_scalar(name, value, step)


def finish(writer):
    writer.close()


def warm():
    from tensorboard.backend.event_processing import event_accumulator  # noqa: F401


def read(folder: Path, name: str):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder / "run"), size_guidance={"scalars": 0, "tensors": 0})
    events.Reload()
    points = events.Scalars(name)
    return [p.step for p in points], [p.value for p in points]


def serve(folder: Path, port: int):
    command = [
        sys.executable,
        "-m",
        "tensorboard.main",
        "--logdir",
        str(folder),
        "--port",
        str(port),
        "--host",
        "127.0.0.1",
    ]
    return subprocess.Popen([*command, "--load_fast=false"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def chart(client, port: int, name: str):
    url = f"http://127.0.0.1:{port}/data/plugin/scalars/scalars?tag={name}&run=run"
    return lambda: client(url, {}, None)
