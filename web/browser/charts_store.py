"""Runs with everything the Charts page can draw, logged through the public API: for tests and screenshots."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import plotly.graph_objects as go

import stepscope

STEPS = 3000
SPIKE = 1234
NAN_FROM = 2400
NAMES = ["baseline", "lr 3e-3", "wide encoder", "no warm-up", "diverges"]
REPORT = """# What we saw

The **best** learning rate was `1e-3`; see [the paper](https://example.org/paper) and [this](javascript:alert(1)).

- the *loss* falls
- the norm has one spike

<script>document.title = 'PWNED'</script>

![beacon](https://example.org/beacon.png)
"""
PAGE = """<style>h1 { color: green }</style><h1>Class report</h1><p id="ran">no</p>
<script>document.getElementById("ran").textContent = "yes"; parent.document.title = "PWNED"</script>
<img src="https://example.org/beacon.png">"""


def charts(store: Path) -> None:
    for number, name in enumerate(NAMES):
        rng = np.random.default_rng(number)
        config = {"lr": 1e-3 * (number + 1), "width": 64 << (number % 2)}
        with stepscope.init("vae", name, config, dir=store, console=False, system=False, git=False) as run:
            _numbers(run, number, rng)
            _media(run, number, rng)


def _numbers(run: stepscope.Run, number: int, rng: np.random.Generator) -> None:
    for step in range(STEPS):
        fall = math.exp(-step / (420 + 90 * number))
        loss = (2 + 0.2 * number) * fall + 0.2 + 0.03 * number + 0.05 * (fall + 0.2) * rng.standard_normal()
        if number == 4:
            loss += 0.02 * math.exp(step / 700)
            loss = math.nan if step >= NAN_FROM else math.inf if step == NAN_FROM - 400 else loss
        spike = 40.0 if step == SPIKE and number == 0 else 0.0
        values = {
            "loss": loss,
            "lr": 1e-3 * (number + 1) * (1 + math.cos(math.pi * step / STEPS)) / 2,
            "grad_norm": 1.5 * fall + 0.4 + 0.2 * abs(rng.standard_normal()) + spike,
            "train/accuracy": 1 - 0.9 * fall - 0.02 * number + 0.01 * rng.standard_normal(),
            "train/kl": 12 * (1 - fall) + 0.4 * rng.standard_normal(),
            "epoch": step // 100,
        }
        run.log(values, step=step)
        if step % 100 == 99:
            run.log(
                {"val/loss": 2.1 * fall + 0.26 + 0.02 * number, "val/accuracy": 0.97 - 0.9 * fall - 0.02 * number},
                step=step,
            )
    run.log({"test/accuracy": 0.95 - 0.02 * number, "system/cpu": 40.0 + number}, step=STEPS - 1)


def _digits(rng: np.random.Generator, count: int, sharpness: float) -> np.ndarray:
    """Rings and bars that get clearer, as a VAE's samples do."""
    y, x = np.mgrid[0:28, 0:28] - 13.5
    shapes = [
        np.exp(-((np.hypot(x, y) - 4 - i % 5) ** 2) / 4)
        if i % 2
        else np.exp(-((x * math.cos(i) + y * math.sin(i)) ** 2) / 6)
        for i in range(count)
    ]
    return np.clip(sharpness * np.stack(shapes) + (1 - sharpness) * rng.random((count, 28, 28)) * 0.8, 0, 1)


def _media(run: stepscope.Run, number: int, rng: np.random.Generator) -> None:
    for at in range(10):
        step = at * 300
        weights = rng.normal(0.02 * at, 0.3 + 0.05 * at, 4000)
        run.log(
            {
                "samples/reconstruction": stepscope.Image(_digits(rng, 16, at / 9), layout="NHW"),
                "weights/encoder": stepscope.Histogram(weights),
            },
            step=step,
        )
    run.log({"samples/list": [stepscope.Image(image) for image in _digits(rng, 3, 1.0)]}, step=STEPS - 1)
    if number > 2:
        return
    truth = rng.integers(0, 10, 800)
    guess = np.where(rng.random(800) < 0.85, truth, rng.integers(0, 10, 800))
    score = np.clip(0.5 + 0.35 * (truth % 2 - 0.5) * 2 + (0.25 + 0.1 * number) * rng.standard_normal(800), 0, 1)
    rows = [
        {"image": f"{i:04d}.png", "true": int(t), "predicted": int(g), "sure": float(s)}
        for i, (t, g, s) in enumerate(zip(truth[:80], guess, score, strict=False))
    ]
    centres = rng.normal(0, 3, (4, 16))
    tone = 0.3 * np.sin(np.linspace(0, 440 * 2 * math.pi, 8000))
    media = {
        "eval/confusion": stepscope.ConfusionMatrix(truth, guess),
        "eval/roc": stepscope.ROCCurve(truth % 2, score),
        "eval/errors": stepscope.Table(rows),
        "eval/report": stepscope.Markdown(REPORT),
        "eval/page": stepscope.Html(PAGE),
        "eval/tone": stepscope.Audio(tone, rate=8000),
        "eval/classes": stepscope.Figure(go.Figure(go.Bar(x=["a", "b", "c"], y=[3, 1, 2], name="count"))),
        "latent": stepscope.Embedding(
            np.concatenate([c + rng.standard_normal((100, 16)) for c in centres]),
            labels=[i // 100 for i in range(400)],
            images=_digits(rng, 400, 1.0)[:, None],
        ),
    }
    run.log(media, step=STEPS - 1)
