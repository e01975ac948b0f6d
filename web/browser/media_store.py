"""Three runs of an autoencoder with everything the Media page can show: for tests, screenshots and the docs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

import stepscope

Floats = NDArray[np.float64]

RUNS = [("wide decoder", 1.0), ("baseline", 0.72), ("no skip", 0.45)]
STEPS = [0, 250, 500, 1000, 1500, 2000, 2500, 3000]
CLASSES = ["cloud", "dune", "field", "forest", "lake", "moor", "ridge", "shore"]
NOTE = """# What step {step} looks like

- **sharp** edges: {sharp} of 8 scenes
- colours are {colour}
- the *moon* is {moon}

| scene | error |
|---|---|
| lake | {error:.3f} |
| ridge | {worse:.3f} |

<script>document.title = 'PWNED'</script>
![beacon](https://example.org/beacon.png)
"""
SAMPLES = [
    "the the of a a lake lake and the in of of",
    "a lake and the moon is a lake of the ridge",
    "the moon stands over a lake between two ridges",
    "the moon stands over a still lake between two dark ridges",
]
PAGE = """<style>h1 { color: #1b7f4a; font: 600 20px sans-serif } p { font: 14px sans-serif }</style>
<h1>Evaluation</h1><p id="ran">Eight scenes, nothing out of the ordinary.</p>
<script>document.getElementById("ran").textContent = "ran"; parent.document.title = "PWNED"</script>"""


def media(store: Path) -> None:
    for number, (name, skill) in enumerate(RUNS):
        rng = np.random.default_rng(number)
        config = {"width": 64 << number, "skill": skill}
        with stepscope.init("scenes", name, config, dir=store, console=False, system=False, git=False) as run:
            for at, step in enumerate(STEPS):
                # A run that logs half as often shows its newest at or before the slider.
                if number != 1 or at % 2 == 0:
                    _pictures(run, step, _quality(step, skill), rng)
                run.log({"loss": 0.7 * math.exp(-step / 700 / skill) + 0.05}, step=step)
            _evaluation(run, skill, rng)


def _quality(step: int, skill: float) -> float:
    return skill * (1 - math.exp(-(step + 60) / 800))


def scene(seed: int, size: int = 48) -> Floats:
    """A small landscape: sky, a moon, two ridges, and water that mirrors them."""
    rng = np.random.default_rng(100 + seed)
    y, x = np.mgrid[0:size, 0:size] / (size - 1)
    dusk, deep = rng.uniform(0.35, 0.95, 3), rng.uniform(0.05, 0.35, 3)
    picture = deep + (dusk - deep) * np.clip(1.25 * y, 0, 1)[..., None]
    moon = np.exp(-(((x - rng.uniform(0.2, 0.8)) ** 2 + (y - 0.25) ** 2) / 0.006))
    picture = picture + moon[..., None] * np.array([1.0, 0.96, 0.8])
    for depth in (0.45, 0.62):
        waves = sum(rng.uniform(0.02, 0.06) * np.sin(rng.uniform(4, 22) * x + rng.uniform(0, 6)) for _ in range(4))
        ridge = (y > depth + waves)[..., None]
        picture = np.where(ridge, picture * (0.75 - depth) + 0.06, picture)
    water = y > 0.78
    mirrored = picture[np.clip((1.56 - y) * (size - 1), 0, size - 1).astype(int), (x * (size - 1)).astype(int)]
    return np.asarray(np.clip(np.where(water[..., None], 0.65 * mirrored + 0.1 * deep, picture), 0, 1))


def _blurred(picture: Floats, passes: int) -> Floats:
    for _ in range(passes):
        picture = (picture + sum(np.roll(picture, shift, axis) for shift in (1, -1) for axis in (-3, -2))) / 5
    return picture


def _pictures(run: stepscope.Run, step: int, quality: float, rng: np.random.Generator) -> None:
    truth = np.stack([scene(seed) for seed in range(8)])
    blurred = _blurred(truth, round(2 + 24 * (1 - quality)))
    made = np.clip(blurred + rng.normal(0, 0.09 * (1 - quality), truth.shape), 0, 1)
    moon = np.unravel_index(_blurred(truth[1:2], 2)[0].sum(-1).argmax(), (48, 48))
    top, left = int(moon[0]) - 6, int(moon[1]) - 6
    found = [{"box": [left, top, left + 13, top + 13], "label": "moon", "score": round(0.4 + 0.55 * quality, 2)}]
    boxes = [
        *found[: int(quality > 0.3)],
        {"box": [1, 37, 47, 47], "label": "water", "score": round(0.6 + 0.35 * quality, 2)},
    ]
    attention = _attention(quality, rng)
    clear = round(8 * quality)
    note = NOTE.format(
        step=step,
        sharp=clear,
        colour="right" if quality > 0.6 else "washed out",
        moon="round" if quality > 0.5 else "a smear",
        error=0.4 * (1 - quality) + 0.02,
        worse=0.5 * (1 - quality) + 0.03,
    )
    run.log(
        {
            "val/input": stepscope.Image(truth, columns=4),
            "val/reconstruction": stepscope.Image(made, columns=4),
            "val/attention": stepscope.Image(attention, caption="head 3, last layer"),
            "val/detections": stepscope.Image(made[1], boxes=boxes),
            "val/singles": [stepscope.Image(one, caption=f"scene {at}") for at, one in enumerate(made[:6])],
            "val/note": stepscope.Markdown(note),
            "samples/caption": SAMPLES[min(3, int(4 * quality))],
            "latent/walk": stepscope.Video(_walk(quality, rng), fps=12),
        },
        step=step,
    )


def _attention(quality: float, rng: np.random.Generator) -> Floats:
    """Logits of one head: a diagonal that grows out of the noise."""
    at = np.arange(24)
    near = np.exp(-(np.subtract.outer(at, at) ** 2) / 6)
    column = np.exp(-((at - 4) ** 2) / 2)[None, :] * 0.6
    return np.asarray(3 * quality * (near + column) + rng.normal(0, 0.5, (24, 24)) - 1.2)


def _walk(quality: float, rng: np.random.Generator) -> Floats:
    """From one scene to another, as a decoder draws what lies between two points."""
    one, two = scene(2, 40), scene(5, 40)
    parts = (1 - np.cos(np.linspace(0, 2 * math.pi, 20))) / 2
    frames = np.stack([(1 - part) * one + part * two for part in parts])
    return np.clip(_blurred(frames, round(1 + 10 * (1 - quality))) + rng.normal(0, 0.04, frames.shape), 0, 1)


def _evaluation(run: stepscope.Run, skill: float, rng: np.random.Generator) -> None:
    truth = rng.integers(0, len(CLASSES), 1200)
    near = (truth + rng.choice([1, -1], 1200)) % len(CLASSES)
    guess = np.where(rng.random(1200) < 0.55 + 0.4 * skill, truth, near)
    scores = np.clip(0.5 + 0.32 * skill * (truth % 2 * 2 - 1) + 0.3 * rng.standard_normal(1200), 0, 1)
    media: dict[str, Any] = {
        "eval/confusion": stepscope.ConfusionMatrix(truth, guess, labels=CLASSES),
        "eval/roc": stepscope.ROCCurve(truth % 2, scores),
        "eval/pr": stepscope.PRCurve(truth % 2, scores),
        "eval/predictions": stepscope.Table(_rows(truth, guess, scores)),
        "eval/report": stepscope.Html(PAGE),
        "eval/tone": stepscope.Audio(_tone(skill, rng), rate=8000),
        "eval/landscape": stepscope.Figure(_contours(skill)),
        "eval/errors": stepscope.Figure(_bars(truth, guess)),
        "latent/space": _latent(skill, rng),
    }
    run.log(media, step=STEPS[-1])


def _rows(truth: NDArray[Any], guess: NDArray[Any], scores: Floats) -> list[dict[str, Any]]:
    return [
        {
            "file": f"scene_{at:04d}.png",
            "true": CLASSES[t],
            "predicted": CLASSES[g],
            "right": bool(t == g),
            "score": round(float(s), 4),
            "loss": round(float(-math.log(max(1e-3, s))), 4),
        }
        for at, (t, g, s) in enumerate(zip(truth, guess, scores, strict=True))
    ]


def _tone(skill: float, rng: np.random.Generator) -> Floats:
    """A chord that swells and fades; the worse the model, the more it hisses."""
    time = np.arange(16_000) / 8000
    swell = np.sin(math.pi * time / 2) ** 2 * (0.6 + 0.4 * np.sin(2 * math.pi * 3 * time))
    chord = sum(np.sin(2 * math.pi * pitch * time) for pitch in (220, 277, 330)) / 3
    return 0.7 * swell * chord + 0.12 * (1 - skill) * rng.standard_normal(len(time))


def _contours(skill: float) -> go.Figure:
    grid = np.linspace(-2, 2, 40)
    x, y = np.meshgrid(grid, grid)
    height = x**2 + 0.6 * y**2 + (1.2 - skill) * np.sin(3 * x) * np.cos(3 * y)
    figure = go.Figure(go.Contour(z=height, x=grid, y=grid, colorscale="Viridis", showscale=False))
    return figure.update_layout(title="Loss around the minimum", margin={"l": 36, "r": 16, "b": 36, "t": 48})


def _bars(truth: NDArray[Any], guess: NDArray[Any]) -> go.Figure:
    wrong = [int(((truth == at) & (guess != at)).sum()) for at in range(len(CLASSES))]
    return go.Figure(go.Bar(x=CLASSES, y=wrong, name="errors")).update_layout(title="Errors by class")


def _latent(skill: float, rng: np.random.Generator) -> stepscope.Embedding:
    centres = np.random.default_rng(5).normal(0, 2.2 * skill, (len(CLASSES), 24))
    labels = np.repeat(np.arange(len(CLASSES)), 60)
    vectors = centres[labels] + rng.standard_normal((len(labels), 24))
    pictures = np.stack([scene(int(label) * 7 + at % 5, 20) for at, label in enumerate(labels)])
    columns = {
        "class": [CLASSES[label] for label in labels],
        "loss": np.round(np.abs(rng.normal(0.3, 0.2, len(labels))), 3).tolist(),
        "split": ["val" if at % 4 == 0 else "train" for at in range(len(labels))],
    }
    return stepscope.Embedding(vectors, labels=columns, images=pictures)
