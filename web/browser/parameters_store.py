"""A sweep of a small image model: what was set, how it came out, some runs that diverged. For tests and screenshots."""

from __future__ import annotations

import math
import random
import time
from pathlib import Path
from typing import Any

from stepscope.records import End, RunMeta
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.write.writer import RunWriter

RUNS = 120
DIVERGED = 0.06
"""A learning rate above this ends in NaN."""


def parameters(store: Path, count: int = RUNS) -> None:
    """`count` runs; learning rate, optimizer and depth matter, seed and workers do not."""
    rng = random.Random(5)
    now = time.time()
    for number in range(count):
        config = _config(rng, number)
        _write(store, f"sweep-{number:04d}", config, now - (count - number) * 1700.0, rng)


def _config(rng: random.Random, number: int) -> dict[str, Any]:
    config: dict[str, Any] = {
        "lr": float(f"{10 ** rng.uniform(-4.5, -1):.3g}"),
        "optimizer": rng.choice(["adam", "adamw", "sgd"]),
        "depth": rng.choice([4, 6, 8, 12]),
        "batch_size": rng.choice([32, 64, 128, 256]),
        "dropout": rng.choice([0.0, 0.1, 0.2, 0.3, 0.5]),
        "weight_decay": rng.choice([0.0, 1e-5, 1e-4, 1e-3, 1e-2]),
        "augment": rng.random() < 0.6,
        "seed": number % 5,
        "dataset": "cifar100",
    }
    if config["optimizer"] == "sgd":
        config["momentum"] = rng.choice([0.8, 0.9, 0.95])
    return config


def _accuracy(config: dict[str, Any], rng: random.Random) -> float:
    """What such a run would reach: best near lr 3e-3 (3e-2 for SGD), deeper is better, augmentation helps."""
    best = 3e-2 if config["optimizer"] == "sgd" else 2.5e-3
    far = math.log10(config["lr"] / best)
    quality = 0.66 - 0.05 * far**2 + 0.016 * config["depth"] / 2 + (0.06 if config["augment"] else 0)
    quality -= 0.14 * abs(config["dropout"] - 0.15) + (0.02 if config["optimizer"] == "sgd" else 0)
    return max(0.01, float(quality) + rng.gauss(0, 0.012))


def _write(store: Path, name: str, config: dict[str, Any], created: float, rng: random.Random) -> None:
    meta = RunMeta(id=new_run_id(created), project="cifar100", name=name, created=created, config=config, host="gpu-03")
    writer = RunWriter(create_run(store, meta), run_id=meta.id, heartbeat_s=0, fsync_s=0)
    diverges = config["lr"] > DIVERGED and config["optimizer"] != "sgd"
    reach = _accuracy(config, rng)
    row = writer.keyset(("train/loss", "val/loss", "val/accuracy", "time/epoch_s"))
    epochs = 16
    for epoch in range(epochs):
        part = 1 - math.exp(-(epoch + 1) / 4)
        accuracy = reach * part + rng.gauss(0, 0.004)
        loss = 4.6 * (1 - part) + 2.2 * (1 - reach) + 0.3
        if diverges and epoch > 5:
            accuracy, loss = 0.01, math.nan
        row.write(epoch, (loss * 0.8, loss, accuracy, 20 + 1.5 * config["depth"] + rng.gauss(0, 0.5)))
    ended = created + 60 * rng.uniform(12, 45)
    if diverges and rng.random() < 0.5:
        writer.close(End(time=ended, status="failed", exit_code=1, error="ValueError: loss is NaN"))
    else:
        writer.close(End(time=ended, status="finished", exit_code=0))
