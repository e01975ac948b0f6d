"""Runs of a small network that logged its weights, gradients and activations: for tests and screenshots."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

import stepscope

STEPS = 24
EVERY = 250
WIDTHS = {
    "stem.conv": 0.24, "stage1.0.conv1": 0.12, "stage1.0.conv2": 0.11, "stage1.1.conv1": 0.10,
    "stage2.0.conv1": 0.08, "stage2.0.conv2": 0.08, "stage2.1.conv1": 0.07, "stage3.0.conv1": 0.06,
    "stage3.0.conv2": 0.05, "head.norm": 0.30, "head.fc": 0.04,
}  # fmt: skip
DEAD = "stage2.1.conv1"
"""The layer whose activations die in the second run, as under too high a learning rate."""


def distributions(store: Path, layers: int = 0) -> None:
    """Three runs; with `layers`, one run of that many instead."""
    if layers:
        widths = {f"blocks.{at // 4}.{'qkvo'[at % 4]}": 0.02 + 0.1 / (1 + at) for at in range(layers)}
        _write(store, f"{layers} layers", 1e-3, widths, "", 5, 400)
        return
    _write(store, "lr 1e-3", 1e-3, WIDTHS, "", STEPS)
    _write(store, "lr 1e-1, dies", 1e-1, WIDTHS, DEAD, STEPS)
    with stepscope.init("resnet", "no histograms", {"lr": 1e-2}, dir=store, console=False, system=False) as run:
        for step in range(20):
            run.log({"loss": 2 * math.exp(-step / 8)}, step=step)


def _write(
    store: Path, name: str, lr: float, widths: dict[str, float], dead: str, steps: int, size: int = 4000
) -> None:
    rng = np.random.default_rng(int(1 / lr))
    with stepscope.init("resnet", name, {"lr": lr}, dir=store, console=False, system=False, git=False) as run:
        for at in range(steps):
            values: dict[str, object] = {"loss": 2.2 * math.exp(-at / 6) + 0.2 + 0.02 * rng.standard_normal()}
            for depth, (layer, width) in enumerate(widths.items()):
                part = at / max(1, steps - 1)
                values |= _layer(rng, layer, width, depth, part, lr, layer == dead, size)
            run.log(values, step=at * EVERY)


def _layer(
    rng: np.random.Generator, layer: str, width: float, depth: int, part: float, lr: float, dead: bool, size: int
) -> dict[str, object]:
    """Weights widen as they learn, gradients shrink, activations become sparse."""
    spread = width * (1 + (0.5 + 3 * math.sqrt(lr)) * part * (1 + math.sin(depth)) / 2)
    left = rng.normal(-0.6 * spread * part, spread * 0.7, size * 3 // 8)
    right = rng.normal(0.8 * spread * part, spread, size * 5 // 8)
    gradients = rng.standard_t(4, size) * 2e-3 * math.exp(-2.2 * part) / (1 + depth / 4)
    before = rng.normal(0.3 - (2.9 * min(1.0, 2.2 * part) if dead else 0.5 * part), 0.8, size)
    if dead:
        gradients *= 1e-3 + (1 - min(1.0, 2.2 * part)) ** 2
    return {
        f"weights/{layer}.weight": stepscope.Histogram(np.concatenate((left, right))),
        f"gradients/{layer}.weight": stepscope.Histogram(gradients),
        f"activations/{layer}": stepscope.Histogram(np.maximum(before, 0)),
    }
